"""fit of one estimator of scikit-learn: estimators.py SCALE NAME."""
import sys
import warnings

import numpy as np
from program import result, size, timed
from sklearn import cross_decomposition, decomposition, discriminant_analysis, kernel_ridge, linear_model, manifold
from sklearn import neural_network, svm

RANDOM = np.random.default_rng(1)
warnings.filterwarnings("ignore")  # the estimators do not converge in these few iterations


def data(rows, columns):
    """Random numbers; both arguments are the sizes of the scales."""
    return RANDOM.standard_normal((size(*rows), size(*columns)))


def classes(x, count):
    """A class for each row."""
    return RANDOM.integers(0, count, len(x))


def nmf():
    x = np.abs(data((8000, 3000, 600), (1500, 600, 200)))
    return decomposition.NMF(20, init="nndsvda", solver="mu", max_iter=60, tol=0, random_state=0), (x,), "components_"


def pls():
    x = data((20000, 6000, 800), (800, 300, 80))
    y = x[:, :5] + RANDOM.standard_normal((len(x), 5))
    return cross_decomposition.PLSRegression(8), (x, y), "coef_"


def factors():
    x = data((10000, 4000, 600), (400, 200, 60))
    return decomposition.FactorAnalysis(10, max_iter=30, tol=0, svd_method="lapack"), (x,), "noise_variance_"


def perceptron():
    x = data((20000, 5000, 600), (784, 400, 100)).astype(np.float32)
    layers = neural_network.MLPClassifier((512, 256), max_iter=4, batch_size=256, random_state=0)
    return layers, (x, classes(x, 10)), "loss_"


def discriminant():
    x = data((30000, 8000, 800), (500, 200, 60))
    return discriminant_analysis.LinearDiscriminantAnalysis(), (x, classes(x, 20)), "means_"


def isomap():
    return manifold.Isomap(n_neighbors=10, n_components=2), (data((3000, 1200, 300), (10, 10, 10)),), "dist_matrix_"


def vectors():
    x = data((6000, 2500, 400), (100, 60, 20))
    return svm.SVC(), (x, (x[:, 0] * x[:, 1] > 0).astype(int)), "intercept_"


def kernel():
    x = data((9000, 3000, 500), (50, 50, 20))
    return kernel_ridge.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.02), (x, np.sin(x[:, 0])), "dual_coef_"


def bayes():
    x = data((5000, 2500, 500), (1500, 600, 100))
    return linear_model.BayesianRidge(max_iter=50), (x, x[:, 0] + RANDOM.standard_normal(len(x))), "coef_"


def dictionary():
    learner = decomposition.MiniBatchDictionaryLearning(50, max_iter=1, random_state=0)
    return learner, (data((1000, 400, 100), (64, 64, 64)),), "components_"


estimator, arguments, attribute = globals()[sys.argv[2]]()
with timed():
    estimator.fit(*arguments)
result(attribute, getattr(estimator, attribute), 1e-5)
# SPDX-License-Identifier: BSD-2-Clause
