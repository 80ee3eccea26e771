import type { BindAddress } from '../platform/bind-address.ts'
import { errnoCode, SvcError } from '../platform/errors.ts'
import type { HttpPort } from './http/http-port.ts'

/** The address that was bound; a failure names the address that was wanted. */
export async function listen(port: HttpPort, address: BindAddress): Promise<BindAddress> {
  try {
    return await port.listen(address)
  } catch (error) {
    throw describeListenFailure(error, address)
  }
}

export function describeListenFailure(error: unknown, { host, port }: BindAddress): unknown {
  const code = errnoCode(error)
  if (code === undefined) return error
  const where = `${host}:${port}`
  return code === 'EADDRINUSE'
    ? new SvcError('address_in_use', `Address already in use (${where})`, { cause: error })
    : new SvcError('cannot_listen', `cannot listen on ${where}: ${code}`, { cause: error })
}
