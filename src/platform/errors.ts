// A refusal is a value, a failure is an exception, a bug is an assertion.

/** A failure with a stable code; the message is for people, lower case, without a period. */
export class SvcError extends Error {
  override name = 'SvcError'
  readonly code: string
  /** What the person at the keyboard can do about it; printed as `hint:`. */
  readonly hint: string | undefined
  /** Of the program that ends with it. */
  readonly exitStatus: number
  constructor(
    code: string,
    message: string,
    options: { cause?: unknown; hint?: string; exitStatus?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.exitStatus = options.exitStatus ?? 1
  }
}

/** Something the user asked for that cannot be: a missing variable, a wrong option, a file in the way. */
export class UserError extends SvcError {
  override name = 'UserError'
}

class InvariantError extends Error {
  override name = 'InvariantError'
}

export function invariant(condition: unknown, why: string): asserts condition {
  if (!condition) throw new InvariantError(why)
}

/** The errno code (`ENOENT`, …) of a system error, else undefined. */
export function errnoCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** One line that says what went wrong, causes included, for logs and terminals. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const message = error.message || error.name
  if (error.cause === undefined) return message
  const cause = describeError(error.cause)
  return message.endsWith(cause) ? message : `${message}: ${cause}`
}
