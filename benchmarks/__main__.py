"""`make bench`: every benchmark, one table each."""

from benchmarks import engine, growth, reading, scale

if __name__ == "__main__":
    reading.main()
    engine.main()
    growth.main()
    scale.run()
