// The adapter for Octave: operators on real vectors and products of sparse matrices, offered to the devices.  Octave
// finds the operators in the table of its types; a declined operation is Octave's.
#include <cmath>
#include <cstdlib>
#include <type_traits>

#include <octave/oct.h>
#include <octave/interpreter.h>
#include <octave/ov-builtin.h>
#include <octave/ov-re-mat.h>
#include <octave/ov-re-sparse.h>
#include <octave/ov-scalar.h>
#include <octave/ov-typeinfo.h>
#include <octave/symtab.h>

#include "semcache/semcache.h"

// Without libsemcache in the process the addresses are NULL.
#pragma weak semcache_try_axpby
#pragma weak semcache_try_dot
#pragma weak semcache_try_sparse_columns

namespace
{

using octave::type_info;
using binary = type_info::binary_op_fcn;
using assignment = type_info::assign_op_fcn;

// Smaller arrays are not offered: asking would take more than a twentieth of the time of the work.
octave_idx_type least_elements = 32768, least_entries = 100000;

// Octave's own operators and functions.
struct own_operators
{
    binary add, subtract, scale, scale_right, divide, multiply, multiply_transposed;
    assignment add_to, subtract_from, scale_to, divide_by;
    octave_value norm;
} own;

const NDArray &array_of(const octave_base_value &value)
{
    return static_cast<const octave_matrix &>(value).matrix_ref();
}
NDArray &array_of(octave_base_value &value) { return static_cast<octave_matrix &>(value).matrix_ref(); }
double number_of(const octave_base_value &value) { return value.double_value(); }

// w := alpha x + beta y, or alpha x without y
bool combine(double alpha, const NDArray &x, double beta, const NDArray *y, double *w)
{
    const double a[2] = {alpha, 0}, b[2] = {beta, 0};

    return semcache_try_axpby(x.numel(), SEMCACHE_FLOAT64, a, x.data(), b, y ? y->data() : nullptr, w);
}

bool is_large(const NDArray &x) { return x.numel() >= least_elements; }

// --- operators on vectors -----------------------------------------------------------------------------------------

// A declined operator with a new result is computed here, with Octave's bits: another allocation by Octave's operator
// would move the results to other memory, out of the caches.
NDArray sum(const NDArray &x, const NDArray &y, double sign)
{
    NDArray result(x.dims());
    double *w = result.fortran_vec();
    const double *a = x.data(), *b = y.data();

    if (combine(1, x, sign, &y, w))
        return result;
    for (octave_idx_type i = 0; i < x.numel(); i++)
        w[i] = sign > 0 ? a[i] + b[i] : a[i] - b[i];
    return result;
}

NDArray product_with(const NDArray &x, double factor)
{
    NDArray result(x.dims());
    double *w = result.fortran_vec();
    const double *a = x.data();

    if (!combine(factor, x, 0, nullptr, w))
        for (octave_idx_type i = 0; i < x.numel(); i++)
            w[i] = a[i] * factor;
    return result;
}

NDArray quotient_by(const NDArray &x, double divisor)
{
    NDArray result(x.dims());
    double *w = result.fortran_vec();
    const double *a = x.data();

    if (!combine(1 / divisor, x, 0, nullptr, w))
        for (octave_idx_type i = 0; i < x.numel(); i++)
            w[i] = a[i] / divisor;
    return result;
}

octave_value add(const octave_base_value &a, const octave_base_value &b, double sign, binary own_operator)
{
    const NDArray &x = array_of(a), &y = array_of(b);

    return is_large(x) && x.dims() == y.dims() ? octave_value(sum(x, y, sign)) : own_operator(a, b);
}

octave_value plus(const octave_base_value &a, const octave_base_value &b) { return add(a, b, 1, own.add); }
octave_value minus(const octave_base_value &a, const octave_base_value &b) { return add(a, b, -1, own.subtract); }

octave_value scale(const octave_base_value &a, const octave_base_value &b)
{
    return is_large(array_of(b)) ? octave_value(product_with(array_of(b), number_of(a))) : own.scale(a, b);
}

octave_value scale_right(const octave_base_value &a, const octave_base_value &b)
{
    return is_large(array_of(a)) ? octave_value(product_with(array_of(a), number_of(b))) : own.scale_right(a, b);
}

octave_value divide(const octave_base_value &a, const octave_base_value &b)
{
    return is_large(array_of(a)) ? octave_value(quotient_by(array_of(a), number_of(b))) : own.divide(a, b);
}

// x := x + sign y.  An array that x shares with further variables is not written.
bool add_in_place(NDArray &x, double sign, const NDArray &y)
{
    if (!is_large(x) || x.dims() != y.dims())
        return false;
    if (!x.is_shared())
        return combine(1, x, sign, &y, x.fortran_vec());
    x = sum(x, y, sign);
    return true;
}

// x := factor x
bool scale_in_place(NDArray &x, double factor)
{
    return is_large(x) && !x.is_shared() && combine(factor, x, 0, nullptr, x.fortran_vec());
}

octave_value add_to(octave_base_value &a, const octave_value_list &index, const octave_base_value &b)
{
    return add_in_place(array_of(a), 1, array_of(b)) ? octave_value() : own.add_to(a, index, b);
}

octave_value subtract_from(octave_base_value &a, const octave_value_list &index, const octave_base_value &b)
{
    return add_in_place(array_of(a), -1, array_of(b)) ? octave_value() : own.subtract_from(a, index, b);
}

octave_value scale_to(octave_base_value &a, const octave_value_list &index, const octave_base_value &b)
{
    return scale_in_place(array_of(a), number_of(b)) ? octave_value() : own.scale_to(a, index, b);
}

octave_value divide_by(octave_base_value &a, const octave_value_list &index, const octave_base_value &b)
{
    return scale_in_place(array_of(a), 1 / number_of(b)) ? octave_value() : own.divide_by(a, index, b);
}

// The Euclidean norm of a vector.  Octave scales its sum of squares: it computes where our sum leaves the range of
// numbers.
bool norm_of(const octave_value &value, double &result)
{
    double square[2];

    if (value.type_id() != octave_matrix::static_type_id())
        return false;
    const NDArray &x = array_of(value.get_rep());
    if (!is_large(x) || x.ndims() != 2 || (x.rows() != 1 && x.columns() != 1) ||
        !semcache_try_dot(x.numel(), SEMCACHE_FLOAT64, 0, x.data(), x.data(), square))
        return false;
    result = std::sqrt(square[0]);
    return std::isfinite(square[0]) && square[0] > 1e-200;
}

octave_value_list norm(octave::interpreter &interpreter, const octave_value_list &arguments, int results)
{
    double result;

    if ((arguments.length() == 1 || (arguments.length() == 2 && arguments(1).is_real_scalar() &&
                                     arguments(1).double_value() == 2)) && norm_of(arguments(0), result))
        return octave_value(result);
    return interpreter.feval(own.norm, arguments, results);
}

// --- products with a sparse matrix --------------------------------------------------------------------------------

octave_value product(const octave_base_value &a, const octave_base_value &b, char op, binary declined)
{
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    const SparseMatrix s = a.sparse_matrix_value();
    const NDArray &x = array_of(b);
    const octave_idx_type inputs = op == 'N' ? s.cols() : s.rows(), outputs = op == 'N' ? s.rows() : s.cols();

    if (s.nnz() < least_entries || x.ndims() != 2 || x.rows() != inputs || !x.columns())
        return declined(a, b);
    struct semcache_sparse_arrays arrays = {};
    arrays.size = sizeof arrays;
    arrays.format = SEMCACHE_SPARSE_CSC;
    arrays.type = SEMCACHE_FLOAT64;
    arrays.index_bytes = sizeof(octave_idx_type);
    arrays.rows = s.rows();
    arrays.cols = s.cols();
    arrays.start = s.cidx();
    arrays.index = s.ridx();
    arrays.values = s.data();
    NDArray y(dim_vector(outputs, x.columns()));
    if (semcache_try_sparse_columns(&arrays, op, x.columns(), one, x.data(), inputs, zero, y.fortran_vec(), outputs))
        return y;
    return declined(a, b);
}

octave_value multiply(const octave_base_value &a, const octave_base_value &b)
{
    return product(a, b, 'N', own.multiply);
}

octave_value multiply_transposed(const octave_base_value &a, const octave_base_value &b)
{
    return product(a, b, 'T', own.multiply_transposed);
}

// --- the table of types -------------------------------------------------------------------------------------------

// Octave's functions that replace an operator are private members.  An explicit instantiation may name them.
template <class tag, typename tag::type member> struct opened
{
    friend typename tag::type open(tag) { return member; }
};
struct of_binary
{
    typedef bool (type_info::*type)(octave_value::binary_op, int, int, binary, bool);
    friend type open(of_binary);
};
struct of_compound
{
    typedef bool (type_info::*type)(octave_value::compound_binary_op, int, int, binary, bool);
    friend type open(of_compound);
};
struct of_assignment
{
    typedef bool (type_info::*type)(octave_value::assign_op, int, int, assignment, bool);
    friend type open(of_assignment);
};
template struct opened<of_binary, &type_info::register_binary_op>;
template struct opened<of_compound, &type_info::register_binary_op>;
template struct opened<of_assignment, &type_info::register_assign_op>;

// An operator that Octave lacks for the types stays away.
template <class op> void replace(type_info &types, op which, int left, int right, binary ours, binary &theirs)
{
    theirs = types.lookup_binary_op(which, left, right);
    if (!theirs)
        return;
    if constexpr (std::is_same<op, octave_value::binary_op>::value)
        (types.*open(of_binary()))(which, left, right, ours, false);
    else
        (types.*open(of_compound()))(which, left, right, ours, false);
}

void replace(type_info &types, octave_value::assign_op which, int left, int right, assignment ours, assignment &theirs)
{
    theirs = types.lookup_assign_op(which, left, right);
    if (theirs)
        (types.*open(of_assignment()))(which, left, right, ours, false);
}

void install(octave::interpreter &interpreter)
{
    const int matrix = octave_matrix::static_type_id(), scalar = octave_scalar::static_type_id();
    const int sparse = octave_sparse_matrix::static_type_id();
    octave::symbol_table &symbols = interpreter.get_symbol_table();
    type_info &types = interpreter.get_type_info();

    replace(types, octave_value::op_add, matrix, matrix, plus, own.add);
    replace(types, octave_value::op_sub, matrix, matrix, minus, own.subtract);
    replace(types, octave_value::op_mul, scalar, matrix, scale, own.scale);
    replace(types, octave_value::op_mul, matrix, scalar, scale_right, own.scale_right);
    replace(types, octave_value::op_div, matrix, scalar, divide, own.divide);
    replace(types, octave_value::op_add_eq, matrix, matrix, add_to, own.add_to);
    replace(types, octave_value::op_sub_eq, matrix, matrix, subtract_from, own.subtract_from);
    replace(types, octave_value::op_mul_eq, matrix, scalar, scale_to, own.scale_to);
    replace(types, octave_value::op_div_eq, matrix, scalar, divide_by, own.divide_by);
    replace(types, octave_value::op_mul, sparse, matrix, multiply, own.multiply);
    for (auto op : {octave_value::op_trans_mul, octave_value::op_herm_mul})
        replace(types, op, sparse, matrix, multiply_transposed, own.multiply_transposed);
    own.norm = symbols.builtin_find("norm");
    if (octave_function *function = own.norm.is_defined() ? own.norm.function_value() : nullptr)
        symbols.install_built_in_function(
            "norm", octave_value(new octave_builtin(norm, "norm", function->fcn_file_name(), function->doc_string())));
}

} // namespace

DEFMETHOD_DLD(semcache_octave, interpreter, , , "Starts semcache's adapter (called by semcache_start).")
{
    const char *least = std::getenv("SEMCACHE_TEST_ADAPTER_LEAST");

    if (!semcache_try_axpby || !semcache_try_dot || !semcache_try_sparse_columns)
        return octave_value_list();
    if (least)
        least_elements = least_entries = std::atoi(least);
    install(interpreter);
    interpreter.mlock();
    return octave_value_list();
}
// SPDX-License-Identifier: BSD-2-Clause
