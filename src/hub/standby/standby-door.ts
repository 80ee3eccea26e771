// The socket beside the vault at which `svc standby` asks, of a hub and of a standby alike. It lets in the vault's owner and root.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { rm } from 'node:fs/promises'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, SvcError } from '../../platform/errors.ts'
import { DOOR_ROUTES, type PromoteReply, type StandbyStatus } from '../../protocol/standby.ts'
import { bindPrivately } from '../http/bind-privately.ts'

export interface StandbyDoorOptions {
  readonly socketPath: string
  readonly status: () => StandbyStatus
  /** Undefined at a hub. Throws SvcError. */
  readonly promote?: ((force: boolean) => Promise<PromoteReply>) | undefined
}

const BODY_BYTES_MAX = 1024
const PromoteBody = Type.Object({ force: Type.Boolean() })

export async function openStandbyDoor(options: StandbyDoorOptions): Promise<AsyncDisposable> {
  const { socketPath } = options
  const answering = new Set<Promise<void>>()
  const server: Server = createServer((request, response) => {
    const answered = reply(options, request, response)
    answering.add(answered)
    void answered.finally(() => answering.delete(answered))
  })
  await bindPrivately(server, socketPath)
  return {
    [Symbol.asyncDispose]: async () => {
      await rm(socketPath, { force: true })
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await Promise.allSettled(answering)
      // One that asked nothing yet would be waited for.
      server.closeAllConnections()
      await closed
    },
  }
}

/** Resolves when it is sent, or nobody wants it any more. */
async function reply(
  options: StandbyDoorOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve))
  try {
    response.end(JSON.stringify(await answer(options, request)))
  } catch (error) {
    const code = error instanceof SvcError ? error.code : 'internal'
    const hint = error instanceof SvcError ? error.hint : undefined
    response.statusCode = 409
    response.end(JSON.stringify({ error: code, message: describeError(error), hint }))
  }
  await closed
}

async function answer(
  { status, promote }: StandbyDoorOptions,
  request: IncomingMessage,
): Promise<object> {
  const what = `${request.method} ${request.url}`
  if (what === `GET ${DOOR_ROUTES.status}`) return status()
  if (what !== `POST ${DOOR_ROUTES.promote}`) throw new SvcError('route_not_found', what)
  if (promote === undefined) {
    throw new SvcError('not_a_standby', 'this machine is the hub', {
      hint: 'run the command on the machine of the standby',
    })
  }
  let text = ''
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString()
    if (text.length > BODY_BYTES_MAX) throw new SvcError('request_invalid', 'the body is too large')
  }
  const body: unknown = JSON.parse(text)
  if (!Check(PromoteBody, body)) throw new SvcError('request_invalid', 'the body has another form')
  return promote(body.force)
}
