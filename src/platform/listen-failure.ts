// Why a program cannot listen where its setting says, in words.

import type { BindAddress } from './bind-address.ts'
import { errnoCode, SvcError } from './errors.ts'

export function describeListenFailure(
  error: unknown,
  { host, port }: BindAddress,
  variable: string,
): unknown {
  const code = errnoCode(error)
  if (code === undefined) return error
  const where = `${host}:${port}`
  const options = { cause: error, hint: `${variable} says where to listen` }
  return code === 'EADDRINUSE'
    ? new SvcError('address_in_use', `Address already in use (${where})`, options)
    : new SvcError('cannot_listen', `cannot listen on ${where}: ${code}`, options)
}
