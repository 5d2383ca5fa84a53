package train

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// countRows returns the number of rows of all classes.
func countRows(rows [][]int32) (n int) {
	for _, class := range rows {
		n += len(class)
	}
	return n
}

// rowsWithout lists the unlabelled rows.
func rowsWithout(labels []int) []int32 {
	var rows []int32
	for row, label := range labels {
		if label < 0 {
			rows = append(rows, int32(row))
		}
	}
	return rows
}

// rowsByClass lists the rows of each class that has rows, in order of class ID. The lists are parts of one array,
// which a counting sort fills.
func rowsByClass(labels []int) [][]int32 {
	count, all := map[int]int{}, 0
	for _, label := range labels {
		if label >= 0 {
			count[label]++
			all++
		}
	}
	flat, rows := make([]int32, all), make([][]int32, 0, len(count))
	for _, c := range slices.Sorted(maps.Keys(count)) {
		n := count[c]
		count[c] = len(rows) // from here on, count maps the class to its index
		rows, flat = append(rows, flat[:0:n]), flat[n:]
	}
	for row, label := range labels {
		if label >= 0 {
			c := count[label]
			rows[c] = append(rows[c], int32(row))
		}
	}
	return rows
}

func appendRows(batch []int, rows []int32) []int {
	for _, row := range rows {
		batch = append(batch, int(row))
	}
	return batch
}

// fillRows appends n random rows. It takes every row once before it repeats any.
func fillRows[T int | int32](to []T, rows []int32, n int, rng *rand.Rand) []T {
	pool := slices.Clone(rows)
	for n > 0 {
		some := chooseFirst(pool, min(n, len(pool)), rng)
		for _, row := range some {
			to = append(to, T(row))
		}
		n -= len(some)
	}
	return to
}

func shuffleList[T any](list []T, rng *rand.Rand) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// chooseFirst moves n random members of list to its front and returns them: a draw without replacement.
func chooseFirst[T any](list []T, n int, rng *rand.Rand) []T {
	for i := range n {
		j := i + rng.IntN(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
	return list[:n]
}
