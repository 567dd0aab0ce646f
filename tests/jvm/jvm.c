/* The native half of Jvm.java: dgemm on the arrays passed by JNI, and a crash. */
#include <jni.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static void multiply(int n, const double *a, const double *b, double *c)
{
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

/* Direct buffers: memory from malloc, which never moves. */
JNIEXPORT void JNICALL Java_Jvm_direct(JNIEnv *env, jclass class, jint n, jobject a, jobject b, jobject c)
{
    (void)class;
    multiply(n, (*env)->GetDirectBufferAddress(env, a), (*env)->GetDirectBufferAddress(env, b),
             (*env)->GetDirectBufferAddress(env, c));
}

/* Copies of heap arrays, for one call. */
JNIEXPORT void JNICALL Java_Jvm_copied(JNIEnv *env, jclass class, jint n, jdoubleArray a, jdoubleArray b,
                                       jdoubleArray c)
{
    double *p[3] = {(*env)->GetDoubleArrayElements(env, a, NULL), (*env)->GetDoubleArrayElements(env, b, NULL),
                    (*env)->GetDoubleArrayElements(env, c, NULL)};

    (void)class;
    multiply(n, p[0], p[1], p[2]);
    (*env)->ReleaseDoubleArrayElements(env, a, p[0], JNI_ABORT);
    (*env)->ReleaseDoubleArrayElements(env, b, p[1], JNI_ABORT);
    (*env)->ReleaseDoubleArrayElements(env, c, p[2], 0);
}

/* The heap's own memory, which the collector may move right after the call. */
JNIEXPORT void JNICALL Java_Jvm_critical(JNIEnv *env, jclass class, jint n, jdoubleArray a, jdoubleArray b,
                                         jdoubleArray c)
{
    double *p[3] = {(*env)->GetPrimitiveArrayCritical(env, a, NULL), (*env)->GetPrimitiveArrayCritical(env, b, NULL),
                    (*env)->GetPrimitiveArrayCritical(env, c, NULL)};

    (void)class;
    multiply(n, p[0], p[1], p[2]);
    (*env)->ReleasePrimitiveArrayCritical(env, c, p[2], 0);
    (*env)->ReleasePrimitiveArrayCritical(env, b, p[1], JNI_ABORT);
    (*env)->ReleasePrimitiveArrayCritical(env, a, p[0], JNI_ABORT);
}

JNIEXPORT void JNICALL Java_Jvm_crash(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    *(volatile int *volatile)8 = 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
