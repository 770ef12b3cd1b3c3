"""Being honest about quality: how extraction and resolution do on labelled corpora, and whether they got worse."""
