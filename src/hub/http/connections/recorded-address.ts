import { isIP } from 'node:net'

/** As the audit log is to have it: a proxy that is believed may pass on anything for an address, a token too. */
export function recordedAddress(address: string | undefined): string {
  return address !== undefined && isIP(address) !== 0 ? address : 'unknown'
}
