"""`make bench`: every benchmark, one table each."""

from benchmarks import engine, inference, reading

if __name__ == "__main__":
    reading.main()
    engine.main()
    inference.main()
