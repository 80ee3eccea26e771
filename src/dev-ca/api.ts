// The part of step-ca's API that a hub uses, as one function from request to reply.

import { jsonReply, refusalReply, refuse, type Reply } from './reply.ts'
import { publicPartOf, type ProvisionerPrivateJwk } from './provisioner.ts'
import { revoke, type RevokeDependencies } from './revoke.ts'
import { sign, type SignDependencies } from './sign.ts'
import { parseJson } from '../platform/parse-json.ts'

export interface ApiRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
}

export type Api = (request: ApiRequest) => Promise<Reply>

export interface ApiDependencies extends SignDependencies, RevokeDependencies {
  readonly rootPem: string
  readonly provisionerName: string
  readonly provisionerJwk: ProvisionerPrivateJwk
}

type Handler = (request: ApiRequest) => Promise<Reply> | Reply

export function createApi(dependencies: ApiDependencies): Api {
  const { rootPem } = dependencies
  const routes = new Map<string, Handler>([
    ['POST /sign', ({ body }) => sign(dependencies, parseJson(body))],
    ['POST /revoke', ({ body }) => revoke(dependencies, parseJson(body))],
    ['GET /provisioners', ({ url }) => listProvisioners(dependencies, url)],
    ['GET /roots', () => jsonReply(201, { crts: [rootPem] })],
    [
      'GET /roots.pem',
      () => ({ status: 200, contentType: 'application/x-pem-file', body: rootPem }),
    ],
    ['GET /health', () => jsonReply(200, { status: 'ok' })],
  ])
  return async (request) => {
    // Every route is there with and without the version of the API.
    const path = request.url.pathname.replace(/^\/1\.0(?=\/)/, '')
    const handler = routes.get(`${request.method} ${path}`)
    if (handler !== undefined) return handler(request)
    const isKnownPath = [...routes.keys()].some((route) => route.endsWith(` ${path}`))
    return refusalReply(
      isKnownPath ? refuse(405, 'method not allowed') : refuse(404, 'page not found'),
    )
  }
}

/** There is one provisioner, so there is one page, and nothing at or after any cursor. */
function listProvisioners({ provisionerName, provisionerJwk }: ApiDependencies, url: URL): Reply {
  const limit = url.searchParams.get('limit') ?? ''
  if (!/^\d*$/.test(limit)) return refusalReply(refuse(400, `limit '${limit}' is not an integer`))
  const provisioner = { type: 'JWK', name: provisionerName, key: publicPartOf(provisionerJwk) }
  const isFirstPage = (url.searchParams.get('cursor') ?? '') === ''
  return jsonReply(200, { provisioners: isFirstPage ? [provisioner] : [], nextCursor: '' })
}
