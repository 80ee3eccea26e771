// One request to OpenBao's API, in its namespace and with a token. docs/protocol.md CAX-16, CAX-21.

import type { Secret } from '../../../platform/secret.ts'
import type { CaConnection, CaReply, CaRequest } from '../ca-connection.ts'

export interface OpenBaoRequest extends Pick<CaRequest, 'method' | 'path' | 'signal' | 'onSent'> {
  readonly fields?: Readonly<Record<string, unknown>>
  readonly token?: Secret<string>
}

export type OpenBaoCall = (request: OpenBaoRequest) => Promise<CaReply>

export function createOpenBaoCall(
  connection: CaConnection,
  namespace: string | undefined,
): OpenBaoCall {
  return ({ fields, token, ...request }) =>
    connection.send({
      ...request,
      ...(fields !== undefined && { body: JSON.stringify(fields) }),
      headers: {
        ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
        ...(token !== undefined && { 'x-vault-token': token.reveal() }),
      },
    })
}
