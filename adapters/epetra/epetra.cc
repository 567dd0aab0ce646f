// Epetra's products of matrices in compressed rows, and its operations on vectors.  A declined operation is Epetra's.
//
// The functions are members of Epetra's classes, defined in front of Epetra.  The adapter needs no function of Epetra,
// because child processes of the program load the adapter, too.
#pragma GCC visibility push(default)
#include <Epetra_Comm.h>
#include <Epetra_CrsGraphData.h>
#include <Epetra_CrsMatrix.h>
#include <Epetra_MultiVector.h>
#pragma GCC visibility pop

#include <cmath>
#include <cxxabi.h>

#include "adapters/borders.h"
#include "adapters/preload.h"

namespace
{

// Smaller operands are not offered: asking would take more than a twentieth of the time of the work.
const int64_t least_elements = 8192, least_entries = 20000;

// Whether libsemcache and the Epetra of the headers are in the process.
bool is_ready()
{
    static int state; // threads may find the same

    if (!state) {
        const bool present = semcache_try_axpby && semcache_try_divide;
        void *library = present ? dlopen(SC_LIBRARY, RTLD_LAZY | RTLD_NOLOAD) : nullptr;

        state = library ? 1 : -1;
        if (library)
            dlclose(library);
    }
    return state > 0;
}

// All elements side by side.
bool is_plain(const Epetra_MultiVector &v)
{
    return v.NumVectors() == 1 || (v.ConstantStride() && v.Stride() == v.MyLength());
}

int64_t elements(const Epetra_MultiVector &v) { return int64_t(v.MyLength()) * v.NumVectors(); }

// Vectors of one size, fit for an offer.  Epetra reports different sizes.
bool are_alike(const Epetra_MultiVector &w, const Epetra_MultiVector &x)
{
    return w.NumVectors() == x.NumVectors() && w.MyLength() == x.MyLength() && is_plain(w) && is_plain(x) &&
           elements(w) >= least_elements && is_ready();
}

bool are_apart(const Epetra_MultiVector &w, const Epetra_MultiVector &x) { return w.Values() != x.Values(); }

// w := alpha x + beta y; y of NULL: w := alpha x
bool combine(int64_t n, double alpha, const double *x, double beta, const double *y, double *w)
{
    const double a[2] = {alpha, 0}, b[2] = {beta, 0};

    return semcache_try_axpby(n, SEMCACHE_FLOAT64, a, x, b, y, w);
}

bool offer(const struct semcache_sparse_arrays &arrays, char op, int columns, const double *x, int ldx, double *y,
           int ldy)
{
    const double one[2] = {1, 0}, zero[2] = {0, 0};

    if (columns == 1)
        return semcache_try_sparse(&arrays, op, 1, one, x, 1, zero, y, 1);
    return semcache_try_sparse_columns(&arrays, op, columns, one, x, ldx, zero, y, ldy);
}

// The same matrix as Epetra's loops see it.
struct semcache_sparse_arrays csr(int rows, int cols, const int *start, const int *index, const double *values)
{
    struct semcache_sparse_arrays a = {};

    a.size = sizeof a;
    a.format = SEMCACHE_SPARSE_CSR;
    a.type = SEMCACHE_FLOAT64;
    a.index_bytes = sizeof(int);
    a.rows = rows;
    a.cols = cols;
    a.start = start;
    a.index = index;
    a.values = values;
    return a;
}

// Gets elements for the host.
void acquire(const Epetra_MultiVector &v, int count, const int *numbers, enum semcache_mode mode)
{
    if (v.MyLength() < least_elements || !is_ready() || !v.Map().ConstantElementSize() || v.Map().ElementSize() != 1)
        return;
    for (int j = 0; j < v.NumVectors(); j++)
        sc_adapter_get(v.Pointers()[j], sizeof(double), numbers, sizeof *numbers, count, mode);
}

// dynamic_cast, without a need for Epetra: the types are found when they are wanted.
const Epetra_MultiVector *as_vector(const Epetra_SrcDistObject &source)
{
    static const abi::__class_type_info *from, *to;

    if (!SC_ADAPTER_NEXT(from, "_ZTI20Epetra_SrcDistObject") || !SC_ADAPTER_NEXT(to, "_ZTI18Epetra_MultiVector"))
        return nullptr;
    return static_cast<const Epetra_MultiVector *>(abi::__dynamic_cast(&source, from, to, -1));
}

} // namespace

// --- products -----------------------------------------------------------------------------------------------------

// Epetra_CrsMatrix::Multiply exchanges elements with remote processes, and then calls these functions.

// The matrix's own functions may name its parts.
#define OFFERED(op, columns, x, ldx, y, ldy)                                                                           \
    (StorageOptimized() && Graph_.StorageOptimized() && NumMyNonzeros() >= least_entries &&                            \
     (NumMyRows() >= least_elements || NumMyCols() >= least_elements) && is_ready() &&                                 \
     offer(csr(NumMyRows(), NumMyCols(), Graph_.CrsGraphData_->IndexOffset_.Values(),                                  \
               Graph_.CrsGraphData_->data->All_Indices_.Values(), All_Values_),                                        \
           op, columns, x, ldx, y, ldy))

void Epetra_CrsMatrix::GeneralMV(double *x, double *y) const
{
    static void (*own)(const Epetra_CrsMatrix *, double *, double *);

    if (!OFFERED('N', 1, x, 1, y, 1))
        SC_ADAPTER_NEXT(own, "_ZNK16Epetra_CrsMatrix9GeneralMVEPdS0_")(this, x, y);
}

void Epetra_CrsMatrix::GeneralMTV(double *x, double *y) const
{
    static void (*own)(const Epetra_CrsMatrix *, double *, double *);

    if (!OFFERED('T', 1, x, 1, y, 1))
        SC_ADAPTER_NEXT(own, "_ZNK16Epetra_CrsMatrix10GeneralMTVEPdS0_")(this, x, y);
}

void Epetra_CrsMatrix::GeneralMM(double **x, int ldx, double **y, int ldy, int columns) const
{
    static void (*own)(const Epetra_CrsMatrix *, double **, int, double **, int, int);

    if (!ldx || !ldy || !OFFERED('N', columns, *x, ldx, *y, ldy))
        SC_ADAPTER_NEXT(own, "_ZNK16Epetra_CrsMatrix9GeneralMMEPPdiS1_ii")(this, x, ldx, y, ldy, columns);
}

void Epetra_CrsMatrix::GeneralMTM(double **x, int ldx, double **y, int ldy, int columns) const
{
    static void (*own)(const Epetra_CrsMatrix *, double **, int, double **, int, int);

    if (!ldx || !ldy || !OFFERED('T', columns, *x, ldx, *y, ldy))
        SC_ADAPTER_NEXT(own, "_ZNK16Epetra_CrsMatrix10GeneralMTMEPPdiS1_ii")(this, x, ldx, y, ldy, columns);
}

// --- vectors (dot products and sums of absolute values are calls of the BLAS) -------------------------------------

int Epetra_MultiVector::Update(double alpha, const Epetra_MultiVector &x, double beta)
{
    static int (*own)(Epetra_MultiVector *, double, const Epetra_MultiVector *, double);

    if (are_alike(*this, x) && are_apart(*this, x) &&
        combine(elements(x), alpha, x.Values_, beta, beta != 0 ? Values_ : nullptr, Values_)) {
        UpdateFlops((beta != 0 ? 3.0 : 1.0) * double(elements(x)));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector6UpdateEdRKS_d")(this, alpha, &x, beta);
}

// Two steps if the old elements count.  A declined second step is done here.
int Epetra_MultiVector::Update(double alpha, const Epetra_MultiVector &x, double beta, const Epetra_MultiVector &y,
                               double gamma)
{
    static int (*own)(Epetra_MultiVector *, double, const Epetra_MultiVector *, double, const Epetra_MultiVector *,
                      double);
    const int64_t n = elements(*this);

    if (are_alike(*this, x) && are_alike(*this, y) && are_apart(*this, x) && are_apart(*this, y) && are_apart(x, y) &&
        (gamma == 0 ? combine(n, alpha, x.Values_, beta, y.Values_, Values_)
                    : combine(n, alpha, x.Values_, gamma, Values_, Values_))) {
        if (gamma != 0 && !combine(n, beta, y.Values_, 1, Values_, Values_))
            for (int64_t i = 0; i < n; i++)
                Values_[i] += beta * y.Values_[i];
        UpdateFlops((gamma != 0 ? 5.0 : 3.0) * double(n));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector6UpdateEdRKS_dS1_d")(this, alpha, &x, beta, &y, gamma);
}

int Epetra_MultiVector::Scale(double alpha)
{
    static int (*own)(Epetra_MultiVector *, double);

    if (are_alike(*this, *this) && combine(elements(*this), alpha, Values_, 0, nullptr, Values_)) {
        UpdateFlops(double(elements(*this)));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector5ScaleEd")(this, alpha);
}

int Epetra_MultiVector::Scale(double alpha, const Epetra_MultiVector &x)
{
    static int (*own)(Epetra_MultiVector *, double, const Epetra_MultiVector *);

    if (are_alike(*this, x) && combine(elements(x), alpha, x.Values_, 0, nullptr, Values_)) {
        UpdateFlops(double(elements(x)));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector5ScaleEdRKS_")(this, alpha, &x);
}

int Epetra_MultiVector::PutScalar(double value)
{
    static int (*own)(Epetra_MultiVector *, double);

    if (value == 0 && are_alike(*this, *this) && combine(elements(*this), 0, Values_, 0, nullptr, Values_))
        return 0;
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector9PutScalarEd")(this, value);
}

void Epetra_MultiVector::Assign(const Epetra_MultiVector &x)
{
    static void (*own)(Epetra_MultiVector *, const Epetra_MultiVector *);

    if (!are_alike(*this, x) || !are_apart(*this, x) || !combine(elements(x), 1, x.Values_, 0, nullptr, Values_))
        SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector6AssignERKS_")(this, &x);
}

// The first elements have the same numbers here and there.  Epetra adds in one mode only; otherwise the elements are
// copied, and a copy that was made twice is the same.
int Epetra_MultiVector::CopyAndPermute(const Epetra_SrcDistObject &source, int same, int moved, int *to, int *from,
                                       const Epetra_OffsetIndex *indexor, Epetra_CombineMode mode)
{
    static int (*own)(Epetra_MultiVector *, const Epetra_SrcDistObject *, int, int, int *, int *,
                      const Epetra_OffsetIndex *, Epetra_CombineMode);
    const Epetra_MultiVector *x = mode == Epetra_AddLocalAlso || same < least_elements || !is_ready()
                                      ? nullptr
                                      : as_vector(source);
    bool copied = x && Map().ConstantElementSize() && Map().ElementSize() == 1 && NumVectors_ <= x->NumVectors_;

    for (int j = 0; copied && j < NumVectors_; j++)
        copied = Pointers_[j] == x->Pointers_[j] || combine(same, 1, x->Pointers_[j], 0, nullptr, Pointers_[j]);
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector14CopyAndPermuteERK20Epetra_SrcDistObjectiiPiS3_"
                                "PK18Epetra_OffsetIndex18Epetra_CombineMode")(this, &source, copied ? 0 : same, moved,
                                                                              to, from, indexor, mode);
}

// Elements to and from remote ranks. Borders come home in one batch; a fault would bring its read-ahead as well.
int Epetra_MultiVector::PackAndPrepare(const Epetra_SrcDistObject &source, int count, int *numbers, int &bytes,
                                       char *&packed, int &packet, int *sizes, bool &differ, Epetra_Distributor &plan)
{
    static int (*own)(Epetra_MultiVector *, const Epetra_SrcDistObject *, int, int *, int *, char **, int *, int *,
                      bool *, Epetra_Distributor *);

    if (const Epetra_MultiVector *x = count && is_ready() ? as_vector(source) : nullptr)
        acquire(*x, count, numbers, SEMCACHE_READ);
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector14PackAndPrepareERK20Epetra_SrcDistObjectiPiRiRPcS4_S3_RbR18"
                                "Epetra_Distributor")(this, &source, count, numbers, &bytes, &packed, &packet, sizes,
                                                      &differ, &plan);
}

int Epetra_MultiVector::UnpackAndCombine(const Epetra_SrcDistObject &source, int count, int *numbers, int bytes,
                                         char *packed, int &packet, Epetra_Distributor &plan, Epetra_CombineMode mode,
                                         const Epetra_OffsetIndex *indexor)
{
    static int (*own)(Epetra_MultiVector *, const Epetra_SrcDistObject *, int, int *, int, char *, int *,
                      Epetra_Distributor *, Epetra_CombineMode, const Epetra_OffsetIndex *);

    if (count)
        acquire(*this, count, numbers, SEMCACHE_READWRITE);
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector16UnpackAndCombineERK20Epetra_SrcDistObjectiPiiPcRiR18"
                                "Epetra_Distributor18Epetra_CombineModePK18Epetra_OffsetIndex")(
        this, &source, count, numbers, bytes, packed, &packet, &plan, mode, indexor);
}

int Epetra_MultiVector::Norm2(double *result) const
{
    static int (*own)(const Epetra_MultiVector *, double *);
    double sum[2];

    if (NumVectors_ == 1 && are_alike(*this, *this) &&
        semcache_try_dot(MyLength_, SEMCACHE_FLOAT64, 0, Values_, Values_, sum)) {
        Comm().SumAll(sum, result, 1);
        *result = std::sqrt(*result);
        UpdateFlops(2.0 * double(GlobalLength_));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZNK18Epetra_MultiVector5Norm2EPd")(this, result);
}

// this := alpha x .* y + beta this
int Epetra_MultiVector::Multiply(double alpha, const Epetra_MultiVector &x, const Epetra_MultiVector &y, double beta)
{
    static int (*own)(Epetra_MultiVector *, double, const Epetra_MultiVector *, const Epetra_MultiVector *, double);

    if (alpha == 1 && beta == 0 && are_alike(*this, x) && are_alike(*this, y) && are_apart(*this, x) &&
        are_apart(*this, y) && semcache_try_multiply(elements(x), SEMCACHE_FLOAT64, x.Values_, y.Values_, Values_)) {
        UpdateFlops(double(elements(x)));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector8MultiplyEdRKS_S1_d")(this, alpha, &x, &y, beta);
}

// this := alpha y ./ x + beta this.  Epetra takes an x without zeros.
int Epetra_MultiVector::ReciprocalMultiply(double alpha, const Epetra_MultiVector &x, const Epetra_MultiVector &y,
                                           double beta)
{
    static int (*own)(Epetra_MultiVector *, double, const Epetra_MultiVector *, const Epetra_MultiVector *, double);
    const double scale[2] = {beta, 0};

    if (alpha == 1 && are_alike(*this, x) && are_alike(*this, y) && are_apart(*this, x) && are_apart(*this, y) &&
        semcache_try_divide(elements(x), SEMCACHE_FLOAT64, x.Values_, y.Values_, scale, Values_)) {
        UpdateFlops((beta != 0 ? 3.0 : 1.0) * double(elements(x)));
        return 0;
    }
    return SC_ADAPTER_NEXT(own, "_ZN18Epetra_MultiVector18ReciprocalMultiplyEdRKS_S1_d")(this, alpha, &x, &y, beta);
}
// SPDX-License-Identifier: BSD-2-Clause
