# Tests of the examples, as a user sees them
