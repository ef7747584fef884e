/* The dozen calls of MPI that are needed here, behind plain C types: Open MPI's handles are pointers
 * and MPICH's are integers, and neither is seen by the caller. Every function gives 0 when all is
 * well; none waits in the kernel or spins for long: the caller asks again. */
#include <mpi.h>
#include <stddef.h>

static MPI_Request pending;

int drivelab_ranks_init(int *rank, int *size)
{
    int given;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
        return 1;
    if (given < MPI_THREAD_FUNNELED)
        return 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS
        || MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS;
}

int drivelab_ranks_finalize(void)
{
    return MPI_Finalize() != MPI_SUCCESS;
}

/* Begins to send; the bytes stay untouched until drivelab_ranks_sent says so. */
int drivelab_ranks_send(const void *bytes, int count, int to, int tag)
{
    return MPI_Isend((void *)bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &pending)
        != MPI_SUCCESS;
}

int drivelab_ranks_sent(int *is_done)
{
    return MPI_Test(&pending, is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

/* Whether a message is there, from whom, and how long it is; from < 0 asks for any. */
int drivelab_ranks_probe(int from, int tag, int *is_there, int *source, int *count)
{
    MPI_Status status;
    int asked = from < 0 ? MPI_ANY_SOURCE : from;
    if (MPI_Iprobe(asked, tag, MPI_COMM_WORLD, is_there, &status) != MPI_SUCCESS)
        return 1;
    if (!*is_there)
        return 0;
    *source = status.MPI_SOURCE;
    return MPI_Get_count(&status, MPI_BYTE, count) != MPI_SUCCESS;
}

int drivelab_ranks_receive(void *bytes, int count, int from, int tag)
{
    return MPI_Recv(bytes, count, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        != MPI_SUCCESS;
}

int drivelab_ranks_abort(int status)
{
    return MPI_Abort(MPI_COMM_WORLD, status) != MPI_SUCCESS;
}
