import type { BindAddress } from '../platform/bind-address.ts'
import { describeListenFailure } from '../platform/listen-failure.ts'
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
