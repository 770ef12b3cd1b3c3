// The slider says its day while it moves, and sends its form when it has come to rest. Without this file a button does.
"use strict";
for (const slider of document.querySelectorAll("input[data-says]")) {
  const says = document.getElementById(slider.dataset.says);
  slider.addEventListener("input", () => {
    const day = new Date(`${slider.dataset.first}T00:00:00Z`);
    day.setUTCDate(day.getUTCDate() + Number(slider.value));
    says.textContent = day.toISOString().slice(0, 10);
  });
  slider.addEventListener("change", () => slider.form.requestSubmit());
}
// What takes a while says so, and is not begun twice. Coming back to the page by the browser's own button begins anew.
for (const form of document.querySelectorAll("form[data-works]")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    button.disabled = true;
    button.setAttribute("aria-live", "polite");
    button.textContent = form.dataset.works;
  });
}
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
