package findings

import (
	"context"
	"math"
	"slices"

	"winnow/features"
	"winnow/filters/leaveout"
)

// rivals is the number of nearest classes that a class is compared with.
const rivals = 10

// pair counts the images of two classes, and the images that are nearer to their own class.
type pair struct{ images, own int }

// compareClasses sets Like, Alike and Compared: how well two classes can be distinguished by the given labels, each
// image left out. Two names for one class divide its images at random, so that no more than half of the images are
// nearer to their own class.
//
// Only images that are nearer to one of the two classes than to all others are counted: wrong labels from other classes
// would hide the difference, and leaving these images out favours neither class. The classes are those of the given
// labels, without the weights of a judge, because a judge moves images between similar classes.
func compareClasses(ctx context.Context, plain *leaveout.Set, list []Class) error {
	near, err := nearestClasses(ctx, plain)
	if err != nil {
		return err
	}
	counts := map[[2]int]*pair{}
	for k, of := range near {
		for _, j := range of {
			counts[[2]int{min(j, k), max(j, k)}] = &pair{}
		}
	}
	partners := make([][]int, len(list))
	for key := range counts {
		partners[key[0]] = append(partners[key[0]], key[1])
		partners[key[1]] = append(partners[key[1]], key[0])
	}
	err = plain.Each(ctx, func(_, y int, row []float64) {
		first, second := findBestExcept(row, y, -1), 0.0
		top := findBestExcept(row, y, first)
		for _, j := range partners[y] {
			if second = row[first]; j == first {
				second = math.Inf(-1)
				if top >= 0 {
					second = row[top]
				}
			}
			if math.Max(row[y], row[j]) < second {
				continue
			}
			p := counts[[2]int{min(j, y), max(j, y)}]
			p.images++
			if row[y] > row[j] {
				p.own++
			}
		}
	})
	if err != nil {
		return err
	}
	for k := range list {
		slices.Sort(partners[k])
		lowest := math.Inf(1)
		list[k].Like = plain.Classes[near[k][0]]
		for _, j := range partners[k] {
			p := counts[[2]int{min(j, k), max(j, k)}]
			n := float64(p.images)
			if z := (float64(p.own) - n/2) / math.Sqrt(n/4); p.images >= fewest && z < lowest {
				lowest = z
				list[k].Like, list[k].Compared, list[k].Alike = plain.Classes[j], p.images, 2*(1-float64(p.own)/n)
			}
		}
	}
	return nil
}

// findBestExcept returns the column of the largest entry other than not and nor; -1 if there is no other.
func findBestExcept(row []float64, not, nor int) int {
	at := -1
	for k, v := range row {
		if k != not && k != nor && (at < 0 || v > row[at]) {
			at = k
		}
	}
	return at
}

// nearestClasses lists for each column the columns with the nearest centres.
func nearestClasses(ctx context.Context, s *leaveout.Set) ([][]int, error) {
	centres := s.Centres()
	near := make([][]int, centres.Rows)
	var scratch []float32
	for k := range near {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := features.Products(&scratch, features.Part(centres, k, 1), centres)
		row.Data[k] = float32(math.Inf(-1))
		for range min(rivals, centres.Rows-1) {
			next := 0
			for j, v := range row.Data {
				if v > row.Data[next] {
					next = j
				}
			}
			near[k], row.Data[next] = append(near[k], next), float32(math.Inf(-1))
		}
	}
	return near, nil
}
