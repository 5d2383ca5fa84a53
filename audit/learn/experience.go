package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// experience holds what the settled images teach about the others.
type experience struct {
	base    *base
	taught  []lesson
	peers   []peer     // for each image mostPeers settled images of its given class, the most similar first
	habits  []surprise // of each habit
	centres []float64  // Classes × components: sum of the rows of each class, weighted by P(label right)
}

// surprise sums how far the decisions y about some images differ from the audit's probabilities p.
type surprise struct{ sum, variance float64 } // Σ (y - p), Σ p·(1 - p)

func (s surprise) addSurprise(t surprise, weight float64) surprise {
	return surprise{s.sum + weight*t.sum, s.variance + weight*t.variance}
}

// peer is a settled image. The similarity of a free place is 0.
type peer struct {
	similarity float32
	surprise
}

// mostPeers is the number of settled images that an image is compared with.
const mostPeers = 7

func newExperience(b *base) *experience {
	e := &experience{base: b, peers: make([]peer, b.z.Rows*mostPeers), habits: make([]surprise, b.kinds),
		centres: make([]float64, b.Classes*b.z.Cols)}
	for i := range b.z.Rows {
		e.addToCentre(b.Given[i], i, 1-invertLogit(b.odds[i]))
	}
	return e
}

// addToCentre adds an image with a vector to a class.
func (e *experience) addToCentre(class, i int, weight float64) {
	if class == None || i >= e.base.z.Rows {
		return
	}
	cols := e.base.z.Cols
	for c, v := range features.Row(e.base.z, i) {
		e.centres[class*cols+c] += weight * float64(v)
	}
}

// measureSurprise returns the surprise of one lesson.
func (e *experience) measureSurprise(t lesson) surprise {
	p := invertLogit(e.base.odds[t.image])
	return surprise{t.wrong - p, p * (1 - p)}
}

// continuesLessons reports whether the lessons start with the lessons that were already added.
func (e *experience) continuesLessons(taught []lesson) bool {
	return len(taught) >= len(e.taught) && slices.Equal(taught[:len(e.taught)], e.taught)
}

// addLessons adds the new lessons one by one, so that the result does not depend on how many arrive together.
func (e *experience) addLessons(taught []lesson) {
	b := e.base
	for _, t := range taught[len(e.taught):] {
		s := e.measureSurprise(t)
		for _, h := range b.habits[t.image] {
			e.habits[h] = e.habits[h].addSurprise(s, 1)
		}
		e.addToCentre(b.Given[t.image], t.image, invertLogit(b.odds[t.image])-1)
		e.addToCentre(t.label, t.image, 1)
		for i := range b.z.Rows {
			if t.image < b.z.Rows && i != t.image && b.Given[i] == b.Given[t.image] {
				e.addPeer(i, peer{blas32.Dot(b.vectorOf(i), b.vectorOf(t.image)), s})
			}
		}
	}
	e.taught = append(e.taught, taught[len(e.taught):]...)
}

func (b *base) vectorOf(i int) blas32.Vector {
	return blas32.Vector{N: b.z.Cols, Inc: 1, Data: features.Row(b.z, i)}
}

// addPeer adds a peer of image i if it is one of the most similar.
func (e *experience) addPeer(i int, p peer) {
	list := e.peers[i*mostPeers : (i+1)*mostPeers]
	at := mostPeers
	for at > 0 && list[at-1].similarity < p.similarity {
		at--
	}
	if at < mostPeers {
		copy(list[at+1:], list[at:])
		list[at] = p
	}
}

// learnt is the number of features computed from decisions.
const learnt = 5

// writeLearntFeatures writes the features of image i that summarise the decisions about images with the same habits,
// about similar images of its given class, and about the classes. own is the lesson of image i, which is left out, or
// nil. The first four are a step of Newton's method towards the log odds among those images.
func (e *experience) writeLearntFeatures(to []float64, i int, own *lesson) {
	for c, h := range e.base.habits[i] {
		s := e.habits[h]
		if own != nil {
			s = s.addSurprise(e.measureSurprise(*own), -1)
		}
		to[c] = s.sum / (s.variance + 1)
	}
	if to[3], to[4] = 0, 0; i < e.base.z.Rows {
		var near surprise
		for _, p := range e.peers[i*mostPeers : (i+1)*mostPeers] {
			near = near.addSurprise(p.surprise, float64(p.similarity))
		}
		to[3], to[4] = near.sum/(near.variance+2), e.compareCentres(i, own)
	}
}

// compareCentres returns how much more similar image i is to the centre of its likeliest other class than to that of
// its given class. The image itself is left out of the centres.
func (e *experience) compareCentres(i int, own *lesson) float64 {
	b, z := e.base, features.Row(e.base.z, i)
	class, weight := b.Given[i], 1-invertLogit(b.odds[i])
	if own != nil {
		class, weight = own.label, 1
	}
	compare := func(c int) float64 {
		dot, square := 0.0, 0.0
		for j, v := range e.centres[c*len(z) : (c+1)*len(z)] {
			dot += v * float64(z[j])
			square += v * v
		}
		if c == class {
			square += weight * (weight - 2*dot)
			dot -= weight
		}
		return dot / math.Sqrt(max(square, 1e-6))
	}
	rival := -1.0
	for _, c := range [2]int{b.Suggested[i], b.other[i]} {
		if c != b.Given[i] {
			rival = max(rival, compare(c))
		} else if b.Suggested[i] == b.other[i] {
			rival = 0 // no other class is known
		}
	}
	return 5 * (rival - compare(b.Given[i]))
}
