# sparse
