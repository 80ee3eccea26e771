import type { FastifyReply, FastifyRequest } from 'fastify'
import { LOG_CHECKPOINT_HEADER } from '../../protocol/routes.ts'
import type { StreamConnection } from './agent-streams.ts'

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Nothing can follow it on this connection.
  connection: 'close',
} as const

/** Answers the request with a body that stays open. */
export function openStreamResponse(request: FastifyRequest, reply: FastifyReply): StreamConnection {
  reply.hijack()
  const response = reply.raw
  const { socket } = request.raw
  response.on('error', () => socket.destroy())
  const checkpoint = reply.getHeader(LOG_CHECKPOINT_HEADER)
  response.writeHead(200, {
    ...HEADERS,
    'x-request-id': request.id,
    ...(checkpoint !== undefined && { [LOG_CHECKPOINT_HEADER]: checkpoint }),
  })
  return {
    write: (text) => void response.write(text),
    get bufferedBytes() {
      return response.writableLength
    },
    end: (last = '') => {
      // A client that has not read what came before would not read the end either.
      if (response.writableLength > 0) socket.destroy()
      else response.end(last, () => socket.destroySoon())
    },
    onClose: (listener) => {
      if (socket.destroyed) listener()
      else socket.once('close', listener)
    },
  }
}

/** HEAD: what a GET would be answered, without holding a stream. */
export function answerWithoutStream(reply: FastifyReply): FastifyReply {
  return reply.headers(HEADERS).send()
}
