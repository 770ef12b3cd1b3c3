"""Thirty invented messages of a user and an assistant on two days, and what they say of a few things."""

from datetime import UTC, datetime, timedelta

FIRST = datetime(2026, 3, 2, 10, tzinfo=UTC)
N_OF_FIRST_DAY = 16
TURNS = (
    "Hi! I moved to Ghent in March.", "Welcome to Ghent. What brought you there?",
    "My sister Maarit lives here, she works as a glazier.", "A glazier is a fine trade.",
    "I work at Brightwater Optics as a technician.", "How is the work?",
    "I love it, but I hate the early shifts.", "Early shifts are hard on everybody.",
    "My dog Pippin hates them too.", "Poor Pippin.",
    "I want to learn Flemish this year.", "An evening class may help.",
    "I no longer eat meat.", "There are good markets for vegetables.",
    "My birthday is on 4 July.", "Noted.",
    "I own a cargo bike, it was 900 euros.", "That is a fair price.",
    "I think I like chess, my friend Oduya plays it.", "A chess club meets on Mondays.",
    "Oduya lives in Bruges and speaks Yoruba.", "Bruges is close.",
    "We plan to visit Antwerp on Friday.", "Take the train.",
    "I am allergic to walnuts.", "I will leave out walnuts.",
    "My brother Teun plays the cello.", "The cello is a warm instrument.",
    "I prefer tea to coffee.", "Tea it is.",
)  # fmt: skip
ONLY = {
    ("user", "lives_in"): {"Ghent"},
    ("Maarit", "lives_in"): {"Ghent", "here"},
    ("Oduya", "lives_in"): {"Bruges"},
    ("user", "works_at"): {"Brightwater Optics"},
    ("user", "sibling_of"): {"Maarit", "Teun", "sister", "brother"},
    ("user", "friend_of"): {"Oduya"},
    ("user", "has_pet"): {"Pippin"},
    ("Oduya", "speaks"): {"Yoruba"},
}
"""Subject and relation to all objects that the messages give: any other contradicts them."""


def rows() -> list[dict[str, object]]:
    """The messages as native lines."""
    days = (TURNS[:N_OF_FIRST_DAY], TURNS[N_OF_FIRST_DAY:])
    return [
        {
            "user_id": "ilse", "session_id": f"s{day}", "turn_number": n, "role": ("user", "assistant")[n % 2],
            "content": text, "timestamp": (FIRST + timedelta(days=day, minutes=n)).isoformat(),
        }
        for day, texts in enumerate(days) for n, text in enumerate(texts)
    ]  # fmt: skip
