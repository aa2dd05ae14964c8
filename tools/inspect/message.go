package inspect

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/connection/session"
)

// meanings say what a number of a field means where it has no name in its layout.
var meanings = map[string]func(v int64) string{
	"timeout":    func(v int64) string { return fmt.Sprintf("%d.%d s", v/10, v%10) },
	"variants":   func(v int64) string { return variantNames(uint8(v)) },
	"variant":    func(v int64) string { return variantNames(uint8(v)) },
	"extensions": func(v int64) string { return extensionNames(uint16(v)) },
	"reason":     func(v int64) string { return session.Reason(v).String() },
}

func variantNames(v uint8) string {
	return [...]string{"none", "slices", "repair slices", "slices, repair slices"}[v&session.DefaultVariants]
}

func extensionNames(v uint16) string {
	return [...]string{"", "ECN", "clocks", "ECN, clocks"}[v&(session.ExtensionECN|session.ExtensionClock)]
}

// versionsOf names the versions of a list. Those that never exist are in it on purpose.
func versionsOf(list session.Versions) string {
	var names []string
	for _, v := range list {
		if v != 0 && v%16 != 10 {
			names = append(names, fmt.Sprint(v))
		}
	}
	return strings.Join(names, ", ")
}

func messageSummary(m *session.Message) string {
	switch m.Kind {
	case session.KindLink:
		return fmt.Sprintf("LINK: versions %s", versionsOf(m.Versions))
	case session.KindProof:
		again := ""
		if m.Resume != 0 {
			again = fmt.Sprintf(", goes on with link %08x", m.Resume)
		}
		return fmt.Sprintf("%v: %v, protocol id 0x%08x, %s%s", m.Kind, m.Mode, m.Protocol, count(int(m.Lanes), "lane"), again)
	case session.KindLinked:
		return fmt.Sprintf("LINKED: link %08x, %s, %s", m.Agreed.Link, count(int(m.Agreed.Lanes), "lane"), variantNames(m.Agreed.Variant))
	case session.KindRefused:
		return fmt.Sprintf("REFUSED: %v", m.Reason)
	case session.KindChallenge:
		return fmt.Sprintf("CHALLENGE: version %d of %s", m.Version, versionsOf(m.Versions))
	}
	return fmt.Sprintf("%v data, link %08x, counter %d, %s", session.Mode(m.Kind), m.Agreed.Link, m.Counter, count(len(m.Body), "byte"))
}
