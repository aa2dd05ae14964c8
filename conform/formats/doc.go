// Package formats has the packages' codecs behind the layouts of package layout: bytes become
// values and values bytes by the names that spec/formats.json has. So a comparison of both, a port and a
// fuzz target each are written once for all formats. The values are put into the packages' structs by
// their names; the bytes and the refusals are the packages' own.
package formats
