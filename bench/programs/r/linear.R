# R's linear algebra, one function per run: Rscript linear.R SCALE solve|chol|svd|eigen|qr|lm|prcomp|crossprod
arguments <- commandArgs(TRUE)
size <- function(full, quick, check) switch(arguments[1], full = full, quick = quick, check = check)
result <- function(name, values, tolerance = 1e-8) {
    values <- as.vector(values)
    values <- values[seq(1, length(values), by = max(1, length(values) %/% 64))]
    cat("result", name, tolerance, sprintf("%.17g", values), "\n")
}
timed <- function(work) {
    start <- proc.time()[["elapsed"]]
    value <- force(work)
    cat(sprintf("seconds %.3f\n", proc.time()[["elapsed"]] - start))
    value
}
set.seed(1)
general <- function(n) matrix(runif(n * n) - 0.5, n) + diag(n, n)
symmetric <- function(n) { a <- matrix(runif(n * n) - 0.5, n); a + t(a) + diag(seq(0, n, length.out = n)) }
data <- function(m, n) matrix(runif(m * n) - 0.5, m) %*% diag(seq(1, 3, length.out = n))
programs <- list(
    solve = function() {
        a <- general(size(5000, 2000, 800)); b <- matrix(runif(4 * nrow(a)), ncol = 4)
        result("x", timed(solve(a, b)))
    },
    chol = function() {
        n <- size(6000, 2500, 900); a <- symmetric(n) + diag(n, n)
        result("sums", timed(colSums(chol(a))))
    },
    svd = function() {
        a <- general(size(2000, 800, 400))
        result("d", timed(svd(a))$d)
    },
    eigen = function() {
        a <- symmetric(size(2500, 1000, 500))
        result("values", timed(eigen(a, symmetric = TRUE))$values)
    },
    qr = function() {
        a <- general(size(3000, 1200, 500)); b <- rowSums(a)
        result("x", timed({ f <- qr(a, LAPACK = TRUE); qr.coef(f, b) }))
    },
    lm = function() {
        x <- data(size(50000, 20000, 4000), size(400, 200, 100)); y <- x %*% seq_len(ncol(x)) + runif(nrow(x))
        result("coefficients", timed(coef(lm(y ~ x))), 1e-6)
    },
    prcomp = function() {
        x <- data(size(20000, 8000, 2000), size(800, 300, 150))
        result("sdev", timed(prcomp(x))$sdev)
    },
    crossprod = function() {
        x <- data(size(50000, 20000, 4000), size(1500, 600, 300))
        result("sums", timed(rowSums(crossprod(x))))
    })
programs[[arguments[2]]]()
# SPDX-License-Identifier: BSD-2-Clause
