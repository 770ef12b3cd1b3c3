"""`make bench`: every benchmark, one table each."""

from benchmarks import engine, growth, inference, reading, retrieval, scale

if __name__ == "__main__":
    reading.main()
    engine.main()
    inference.main()
    retrieval.main()
    growth.main()
    scale.run()
