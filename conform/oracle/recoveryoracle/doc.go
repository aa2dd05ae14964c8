// Package recoveryoracle is a second implementation of the recommended scheduler, written from
// spec/RECOVERY.md alone, one sentence after the other: the controller, which the rule of
// repair slices (conform/oracle/repair) shares, and what finds lost slices and chooses
// what goes next. The expected responses of the vectors come from it. It shares no code with
// what it judges: a test checks what it imports.
package recoveryoracle
