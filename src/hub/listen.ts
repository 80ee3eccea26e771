import type { BindAddress } from '../platform/bind-address.ts'
import { errnoCode, SvcError } from '../platform/errors.ts'
import type { HttpPort } from './http/http-port.ts'

/** The address that was bound; a failure names the one that was wanted, and the variable that says so. */
export async function listen(
  port: HttpPort,
  address: BindAddress,
  variable: string,
): Promise<BindAddress> {
  try {
    return await port.listen(address)
  } catch (error) {
    throw describeListenFailure(error, address, variable)
  }
}

/** Undefined where it is off. */
export async function listenWhereWanted(
  port: HttpPort | undefined,
  address: BindAddress | undefined,
  variable: string,
): Promise<BindAddress | undefined> {
  return port === undefined || address === undefined ? undefined : listen(port, address, variable)
}

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
