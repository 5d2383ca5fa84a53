package pgvector

// The fields of a point that winnow writes itself.
const (
	PathField   = "path"
	ModelField  = "model"
	DigestField = "digest"
)

// Point is an image's vector and what is known about the image. Payload holds none of winnow's own fields.
type Point struct {
	Path    string
	Vector  []float32
	Payload map[string]string
}

// Stored is a point as the server holds it.
type Stored struct {
	Point
	Model, Digest string
}

// Source yields points in order, some per call, and io.EOF after the last. Vectors are read after Next is called
// again, so they must not be overwritten; a few batches are kept.
type Source interface {
	Len() int // an upper bound on the points that Next will give
	Width() int
	Next() ([]Point, error)
}

// Options are the settings of an upload.
type Options struct {
	Model    string   // sha256 of what made the vectors: a collection does not mix models
	Batch    int      // most points per request
	Recreate bool     // delete the collection first
	Delete   bool     // delete the points that the source does not have
	Columns  []string // the fields of the payloads
	Observe  func(done, total int)
	Note     func(text string) // receives notes for the user
}

// Result describes a finished upload.
type Result struct {
	Collection string `json:"collection"`
	Server     string `json:"server_version"`
	Rows       int    `json:"rows"`
	Dim        int    `json:"dim"`
	Sent       int    `json:"sent"`
	Kept       int    `json:"there_already"`
	Deleted    int    `json:"deleted"`
	Points     int    `json:"points_in_collection"`
	Compared   int    `json:"points_compared"` // read back and found equal
	Created    bool   `json:"created"`
}

// About describes a collection.
type About struct {
	Server string // the server's version
	Model  string // the model that made the vectors
	Dim    int
	Points int
}

// Hit is a point found and its cosine with the query.
type Hit struct {
	Path       string
	Payload    map[string]string
	Similarity float64
}

// OtherCollection says why a collection cannot hold the points.
type OtherCollection struct{ Store, Why string }

// Error implements error.
func (e *OtherCollection) Error() string { return e.Store + ": " + e.Why }

// RequestError describes a request that a server refused, or did not answer after all tries.
type RequestError struct {
	Message  string // the server, the request and the answer
	Refused  bool   // the key or password was rejected
	NoAnswer bool   // the server could not be reached
	Tries    int
	Err      error
}

// Unwrap returns the client's error.
func (e *RequestError) Unwrap() error { return e.Err }
