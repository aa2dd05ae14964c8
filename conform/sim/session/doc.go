// Package session judges clients and servers of package session.
package session
