package inspect

import (
	"fmt"

	"github.com/chunkwire/chunkwire/connection/session"
)

// walkHandshake walks along a message of the handshake (CXH-1 to CXH-7).
func walkHandshake(w *walker) {
	kind, f := w.bits("kind", 8, "CXH-1")
	f.Meaning = session.Kind(kind).String()
	switch session.Kind(kind) {
	case session.KindLink:
		w.offer()
		w.bytes("padding", 15, "CXH-3")
	case session.KindChallenge:
		w.bytes("nonce", 16, "CXH-4")
		w.cookie("CXH-4")
	case session.KindProof:
		w.offer()
		w.cookie("CXH-5")
		w.bytes("proof", 16, "CXH-5")
	case session.KindLinked:
		w.linked()
	case session.KindRefused:
		w.bytes("nonce", 16, "CXH-7")
		w.bits("version", 8, "CXH-7")
		reason, f := w.bits("reason", 8, "CXH-8")
		f.Meaning = session.Reason(reason).String()
		w.bytes("proof", 16, "CXH-7")
	}
}

func (w *walker) offer() {
	w.group("offer", "CXH-2", func() string {
		w.bits("version", 8, "CXH-2")
		w.bytes("nonce", 16, "CXH-2")
		w.bits("protocol_id", 32, "CXH-2")
		mode, f := w.bits("mode", 8, "CXH-2")
		f.Meaning = session.Mode(mode).String()
		w.bits("lanes", 8, "CXH-2")
		variants, f := w.bits("variants", 8, "CXH-2")
		f.Meaning = variantNames(uint8(variants))
		extensions, f := w.bits("extensions", 16, "CXH-2")
		f.Meaning = extensionNames(uint16(extensions))
		w.timeout("CXH-2")
		w.bytes("format", 8, "CXP-4")
		w.bits("identity", 64, "CXH-2")
		w.bits("resume", 32, "CXH-2")
		return ""
	})
}

func variantNames(v uint8) string {
	return [...]string{"none", "slices", "repair slices", "slices, repair slices"}[v&session.DefaultVariants]
}

func extensionNames(v uint16) string {
	if v&session.ExtensionECN != 0 {
		return "ECN"
	}
	return ""
}

func (w *walker) timeout(sentence string) {
	v, f := w.bits("timeout", 16, sentence)
	f.Meaning = fmt.Sprintf("%d.%d s", v/10, v%10)
}

func (w *walker) cookie(sentence string) {
	w.bits("stamp", 64, sentence)
	w.bytes("cookie", 16, sentence)
}

func (w *walker) linked() {
	w.bytes("nonce", 16, "CXH-6")
	w.bits("link", 32, "CXH-6")
	w.bytes("server_nonce", 16, "CXH-6")
	w.bits("lanes", 8, "CXH-6")
	variant, f := w.bits("variant", 8, "CXP-3")
	f.Meaning = variantNames(uint8(variant))
	extensions, f := w.bits("extensions", 16, "CXP-3")
	f.Meaning = extensionNames(uint16(extensions))
	w.timeout("CXP-3")
	w.bytes("proof", 16, "CXH-6")
}

func messageSummary(m *session.Message) string {
	switch m.Kind {
	case session.KindLink, session.KindProof:
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
		return "CHALLENGE"
	}
	return fmt.Sprintf("%v data, link %08x, counter %d, %s", session.Mode(m.Kind), m.Agreed.Link, m.Counter, count(len(m.Body), "byte"))
}
