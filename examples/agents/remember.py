"""An agent's day with one user's memory, in Python: `python examples/agents/remember.py HOME`."""

import sys

from em_pipelines.memory import Memory

memory = Memory(sys.argv[1], "nora")

# Stored in the log, listed at once, learned from by the next `em run`. Doing it twice stores it once.
memory.store_observation("I moved to Voss last week.", session_id="chat-1", turn_number=0, tags=["home"])
print([one.content for one in memory.search_by_tag("home")])

# A turn of the conversation as OpenAI's chat API has it, learned from before the answer is given.
said = [{"role": "user", "content": "My sister Dana lives in Graz."}, {"role": "assistant", "content": "Noted."}]
added = memory.add(said, session_id="chat-2", learn=True)
print(added.added, [(fact["subject"], fact["object"]) for fact in memory.facts(entity="Graz")])

# What the agent has understood itself, and what the user says is right: seen at once.
memory.add_facts([{"relation": "lives_in", "object": "Vos"}], session_id="chat-1")
memory.correct("Voss", relation="lives_in", old_object="Vos")
print([(fact["relation"], fact["object"], fact["confidence"]) for fact in memory.facts()])

# What belongs into the prompt before the next answer.
print(memory.context("What is the weather like at home?").text)

# Kept, and not found any more; then gone for good, with a certificate.
memory.archive_observation("chat-1", 0)
print(memory.list_observations(session_id="chat-1"), memory.forget(session_id="chat-1").result)
