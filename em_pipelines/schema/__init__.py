"""Schema: vocabulary, ids, declared tables, and the objects that stages hand to each other."""
