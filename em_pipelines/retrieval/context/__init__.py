"""What an agent is told of a person before it answers: the context block, instructions, the start of a session."""
