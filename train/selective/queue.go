package selective

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// queue holds the latest vectors embedded by a running average, first in, first out, with each vector's training row.
// It is stored in parameters, so that checkpoints contain it. Rows and positions are float32, exact up to 2²⁴.
type queue struct {
	data, rows, place *features.Param // size×D; 1×size; 1×2: the next position, and the number of vectors
	fresh             int             // number of vectors in the last push
}

func newQueue(name string, size, dim int) *queue {
	return &queue{
		data: features.NewParam(name+".vectors", size, dim), rows: features.NewParam(name+".rows", 1, size),
		place: features.NewParam(name+".place", 1, 2),
	}
}

func (q *queue) queueParams() []*features.Param { return []*features.Param{q.data, q.rows, q.place} }

func (q *queue) size() int { return q.data.Rows }
func (q *queue) next() int { return int(q.place.Data[0]) }
func (q *queue) len() int  { return int(q.place.Data[1]) }

// trainingRow returns the training row of the vector at a position.
func (q *queue) trainingRow(at int) int { return int(q.rows.Data[at]) }

// queueVectors returns a view of all vectors in the queue.
func (q *queue) queueVectors() blas32.General {
	return blas32.General{Rows: q.len(), Cols: q.data.Cols, Stride: max(q.data.Cols, 1), Data: q.data.Data}
}

// pushVectors appends vectors, at most as many as fit, with their training rows.
func (q *queue) pushVectors(x blas32.General, rows []int) {
	next := q.next()
	for i := range x.Rows {
		copy(q.data.Data[next*q.data.Cols:(next+1)*q.data.Cols], features.Row(x, i))
		q.rows.Data[next] = float32(rows[i])
		next = (next + 1) % q.size()
	}
	q.place.Data[0], q.place.Data[1] = float32(next), float32(min(q.len()+x.Rows, q.size()))
	q.fresh = x.Rows
}

// pushedAt returns the position of the i-th vector of the last push.
func (q *queue) pushedAt(i int) int { return (q.next() - q.fresh + i + q.size()) % q.size() }
