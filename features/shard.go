package features

import "fmt"

// Shard describes which part of an image list a store holds. Shards are made separately, perhaps on several
// machines, and combined by [Join].
type Shard struct {
	Index  int    `json:"index"`  // 1 … Of
	Of     int    `json:"of"`     // number of shards of the whole list
	First  int    `json:"first"`  // index of its first image in the whole list, from 0
	Total  int    `json:"total"`  // number of images in the whole list
	Images string `json:"images"` // HashPaths of the whole list
}

// String returns the shard in the form that users write.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// ShardOf returns shard index of a list, with its images. Shards are runs of whole batches, as equal as
// possible, in the order of the list: every image is computed in the same batch as without shards, so that even
// the last bits are equal. More shards than batches are an error.
func ShardOf(paths []string, index, of, batch int) (Shard, []string, error) {
	batches := (len(paths) + batch - 1) / batch
	if of > batches {
		return Shard{}, nil, fmt.Errorf("features: %d images in batches of %d make at most %d shards, asked for %d",
			len(paths), batch, batches, of)
	}
	border := func(i int) int { return min(int(int64(batches)*int64(i)/int64(of))*batch, len(paths)) }
	s := Shard{Index: index, Of: of, First: border(index - 1), Total: len(paths), Images: HashPaths(paths)}
	return s, paths[s.First:border(index)], nil
}

// shardDiffers describes how a store's shard differs from the requested one, or returns "". nil is the whole
// list.
func shardDiffers(made, asked *Shard) string {
	switch {
	case made == nil && asked == nil || made != nil && asked != nil && *made == *asked:
		return ""
	case made == nil:
		return fmt.Sprintf("made of a whole image list, asked for shard %v of one", *asked)
	case asked == nil:
		return fmt.Sprintf("made as shard %v of an image list, asked for a whole one", *made)
	}
	return fmt.Sprintf("made as shard %v of the image list %s, asked for %v of %s", *made, short(made.Images), *asked,
		short(asked.Images))
}

// Differs describes how the store differs from the requested one, or returns "".
func (info Info) Differs(key Key, shard *Shard) string {
	if why := info.Key.Differs(key); why != "" {
		return why
	}
	return shardDiffers(info.Shard, shard)
}
