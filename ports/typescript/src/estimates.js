/** What an endpoint learns of its path (PACKETS.md, section 8). */
import { max, min, MS } from "./time.js";
const SECOND = 1000n * MS;
const MIN_RTT_PERIOD = 5n * SECOND;
/** The longest latency that is counted (PKE-1). */
export const LONGEST_SAMPLE = 1n << 40n;
/** Of which loss and rates are (PKE-9). */
const WHOLE_SECONDS = 10n;
const SHOWN = 512;
const LONGEST_SHOWN = 1n << 26n;
/** PKE-1 to PKE-3; the figures are 0 until measured. */
export class RoundTrip {
    measured = false;
    latest = 0n;
    srtt = 0n;
    jitter = 0n;
    minRtt = 0n;
    #periodAt = 0n;
    #smallest = 0n;
    #before = 0n;
    sample(now, r) {
        this.latest = r;
        if (this.measured) {
            const distance = r > this.srtt ? r - this.srtt : this.srtt - r;
            this.jitter += (distance - this.jitter) / 16n;
            this.srtt += (r - this.srtt) / 10n;
        }
        else {
            this.measured = true;
            this.srtt = this.#smallest = this.#before = r;
            this.#periodAt = now;
        }
        if (now - this.#periodAt >= MIN_RTT_PERIOD) {
            this.#periodAt = now;
            this.#before = this.#smallest;
            this.#smallest = r;
        }
        this.#smallest = min(this.#smallest, r);
        this.minRtt = min(this.#smallest, this.#before);
    }
}
/** How long something overtaken should wait before it is taken for lost (PKE-4). */
export class Patience {
    #value = 0n;
    #second = 0n;
    overtaken(now, latency, srtt) {
        this.#value = max(this.at(now), min((latency * 9n) / 8n, (srtt * 3n) / 2n));
    }
    /** The patience at a time; times never go back. */
    at(now) {
        const second = now / SECOND;
        for (; this.#second < second && this.#value >= 16n; this.#second++)
            this.#value -= this.#value / 16n;
        this.#second = max(this.#second, second);
        return this.#value;
    }
}
/** The sum of what happened in the last ten whole seconds (PKE-9). */
export class Seconds {
    #sums = new Map();
    add(now, amount = 1) {
        const second = now / SECOND;
        this.#sums.set(second, (this.#sums.get(second) ?? 0) + amount);
        for (const old of this.#sums.keys()) {
            if (old >= second - WHOLE_SECONDS)
                break;
            this.#sums.delete(old);
        }
    }
    sum(now) {
        const second = now / SECOND;
        let sum = 0;
        for (const [at, amount] of this.#sums)
            if (at < second && at >= second - WHOLE_SECONDS)
                sum += amount;
        return sum;
    }
    /** Of bytes: in bits a second (PKE-7). */
    rate(now) {
        return Math.trunc((this.sum(now) * 8) / Number(WHOLE_SECONDS));
    }
}
/** PKE-5. */
export class Loss {
    #settled = new Seconds();
    #lost = new Seconds();
    /** A number took L1, or if it is lost L2 or L4. */
    settled(now, lost) {
        this.#settled.add(now);
        if (lost)
            this.#lost.add(now);
    }
    /** In tenths of a percent; null: unknown. */
    perMille(now) {
        const settled = this.#settled.sum(now);
        return settled === 0 ? null : Math.trunc((1000 * this.#lost.sum(now)) / settled);
    }
}
/** The latencies of the numbers acked last (PKE-6). */
export class Shown {
    #latencies = [];
    #next = 0;
    add(latency) {
        this.#latencies[this.#next] = min(latency, LONGEST_SHOWN);
        this.#next = (this.#next + 1) % SHOWN;
    }
    /** null: unknown. */
    get figures() {
        const [first, ...others] = this.#latencies;
        if (first === undefined)
            return null;
        const n = BigInt(this.#latencies.length);
        const [least, most] = [min(first, ...others), max(first, ...others)];
        const sum = this.#sum((r) => r);
        const avg = sum / n;
        return {
            min: least,
            max: most,
            avg,
            jitterAvg: this.#sum((r) => r - least) / n,
            jitterMax: most - least,
            jitterDev: squareRoot(this.#sum((r) => (r - avg) ** 2n) / n),
        };
    }
    #sum(term) {
        return this.#latencies.reduce((sum, latency) => sum + term(latency), 0n);
    }
}
/** Rounded down; the value is below 2^62. */
function squareRoot(value) {
    let root = 0n;
    for (let bit = 1n << 31n; bit > 0n; bit >>= 1n)
        if ((root + bit) ** 2n <= value)
            root += bit;
    return root;
}
