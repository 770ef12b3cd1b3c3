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
