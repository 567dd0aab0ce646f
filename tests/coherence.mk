# Tests of coherence
