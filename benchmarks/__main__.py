"""`make bench`: every benchmark, one table each."""

from benchmarks.engine import main

if __name__ == "__main__":
    main()
