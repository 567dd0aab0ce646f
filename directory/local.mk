# directory
