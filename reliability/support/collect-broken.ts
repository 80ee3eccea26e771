import { describeError } from '../../src/platform/errors.ts'

/** Runs one part of a row; what it throws is one more broken promise, and takes nothing of the other parts with it. */
export async function collectBroken(
  broken: string[],
  part: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    broken.push(`${part}: ${describeError(error)}`)
  }
}
