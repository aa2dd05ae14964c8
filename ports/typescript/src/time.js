/** Whether a time or a duration is within its limits. */
export function isTime(value) {
    return value >= 0n && value < 1n << 62n;
}
/** A time that does not come. */
export const NEVER = null;
/** Microseconds in a millisecond. */
export const MS = 1000n;
/** The earlier of two deadlines. */
export function earlier(a, b) {
    if (a === NEVER)
        return b;
    if (b === NEVER)
        return a;
    return a < b ? a : b;
}
/** The smallest of some integers. */
export function min(first, ...others) {
    return others.reduce((a, b) => (b < a ? b : a), first);
}
/** The largest of some integers. */
export function max(first, ...others) {
    return others.reduce((a, b) => (b > a ? b : a), first);
}
/** A machine's clock, which never runs backward (TIM-1). */
export class Clock {
    #latest = 0n;
    /** Takes note of a time and returns it, or the latest one if that is later. */
    advance(now) {
        this.#latest = max(this.#latest, now);
        return this.#latest;
    }
}
