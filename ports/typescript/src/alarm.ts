import { NEVER, type Deadline } from "./time.js";

/** Wakes a program that waits for a datagram or a time. */
export class Alarm {
  #wake = (): void => {};

  /** Ends a wait. */
  ring(): void {
    this.#wake();
  }

  /** Waits until it rings or the deadline has passed, at most longest; times are in microseconds. */
  async until(now: bigint, deadline: Deadline, longest: bigint): Promise<void> {
    const left = deadline === NEVER ? longest : deadline - now;
    if (left <= 0n) return;
    const milliseconds = Math.ceil(Number(left < longest ? left : longest) / 1000);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
