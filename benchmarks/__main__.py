"""`make bench`: every benchmark, one table each."""

from benchmarks import (
    commands,
    consolidation,
    context,
    control_ui,
    engine,
    growth,
    inference,
    probes,
    projection,
    reading,
    retrieval,
    scale,
)

if __name__ == "__main__":
    commands.main()
    reading.main()
    engine.main()
    inference.main()
    consolidation.main()
    probes.main()
    retrieval.main()
    context.main()
    projection.main()
    control_ui.main()
    growth.main()
    scale.run()
