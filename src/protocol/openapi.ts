// The OpenAPI 3.1 description of all ports, from the very schemas that requests are checked against.

import { bodyRoomOf } from './admin/body-room.ts'
import { AdminErrorBody } from './admin/errors.ts'
import { type AdminOperation, AdminRehearsal, nothing } from './admin/operation.ts'
import { CHANGE_MESSAGES, CHANGES_ROUTE } from './admin/changes-route.ts'
import { ADMIN_OPERATIONS } from './admin/operations.ts'
import {
  OPENID_ROUTES,
  OpenidCode,
  OpenidFinish,
  OpenidSignIn,
  OpenidStart,
  OpenidStarted,
  OpenidToken,
} from './admin/openid.ts'
import { SESSION_COOKIE, SESSION_ROUTE, StartedSession } from './admin/sessions.ts'
import { WIRE_ERRORS, type WireErrorCode } from './errors.ts'
import { AGENT_ROUTES, AUTHENTICATION_ERRORS, type DescribedRoute } from './openapi-agent-ports.ts'
import { ROUTES, type PortName } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

const PORTS: Readonly<Record<PortName, { url: string; description: string }>> = {
  health: { url: 'http://{host}:8080', description: 'SVC_HEALTH_BIND: health.' },
  enroll: {
    url: 'https://{host}:8444',
    description: 'SVC_ENROLL_BIND, behind a proxy that ends TLS: enrolment and recovery.',
  },
  enroll_tls: {
    url: 'https://{host}:8446',
    description: 'SVC_ENROLL_TLS_BIND, with the hub’s own certificate: enrolment and recovery.',
  },
  mtls: { url: 'https://{host}:8443', description: 'SVC_MTLS_BIND: agents, by mutual TLS.' },
  admin: {
    url: 'https://{host}:8445',
    description: 'SVC_ADMIN_BIND: operators, by admin tokens or sessions.',
  },
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }
const SHELL_ERRORS: readonly WireErrorCode[] = [
  'request_invalid',
  'request_timeout',
  'internal_error',
  'unavailable',
]
const BODY_ERRORS: readonly WireErrorCode[] = [
  'json_invalid',
  'body_too_large',
  'unsupported_media_type',
]
/** A token, or both halves of a session. */
const OPERATOR_SECURITY: readonly Json[] = [
  { adminToken: [] },
  { sessionCookie: [], sessionSecret: [] },
]
const ADMIN_STATUSES = [400, 401, 403, 404, 408, 409, 412, 413, 415, 429, 500, 503]

export function describeApi(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {}
  const add = ({ method, path }: { method: string; path: string }, operation: Json): void => {
    // A part of a path that stands for any has braces there.
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation }
  }
  for (const [name, route] of Object.entries(AGENT_ROUTES)) {
    const known = ROUTES[name as keyof typeof AGENT_ROUTES]
    add(known, describeRoute(name, known, route))
  }
  for (const [name, operation] of Object.entries(ADMIN_OPERATIONS)) {
    add(operation, describeOperation(name, operation))
  }
  add(CHANGES_ROUTE, describeChanges())
  add(SESSION_ROUTE, describeSignIn())
  for (const [name, route] of Object.entries(OPENID_OPERATIONS))
    add(route, describeOpenid(name, route))
  add(ROUTES.openapi, describeItself())
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cartorio',
      version,
      description:
        'All ports of a hub. docs/protocol.md states the rules. The hub ignores unknown fields of a request; later versions may add fields to replies.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: Object.entries(PORTS).map(([name, { description }]) => ({ name, description })),
    servers: [serverOf('admin')],
    paths,
    components: {
      headers: {
        RequestId: {
          description: 'The hub’s log has the details under this id.',
          required: true,
          schema: { type: 'string' },
        },
      },
      responses: {
        AdminError: {
          description: 'The reason of the refusal, as a code and in words.',
          headers: REQUEST_ID,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/AdminError' } } },
        },
      },
      schemas: {
        AdminError: AdminErrorBody,
        Rehearsal: AdminRehearsal,
        Changes: { type: 'object', properties: CHANGE_MESSAGES },
      },
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', bearerFormat: 'svca_…' },
        signInCode: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svcl_…',
          description: 'Begins one session, once.',
        },
        sessionCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'The half of the browser; with `Sec-Fetch-Site: same-origin`.',
        },
        sessionSecret: {
          type: 'apiKey',
          in: 'header',
          name: 'Cartorio-Session',
          description: 'The half of the page.',
        },
        agentCertificate: {
          type: 'mutualTLS',
          description: 'The identity that the hub obtained for the agent.',
        },
      },
    },
  }
}

function describeRoute(
  operationId: string,
  { port, path }: { port: PortName; path: string },
  route: DescribedRoute,
): Json {
  const codes = [
    ...SHELL_ERRORS,
    ...(route.request === undefined ? [] : BODY_ERRORS),
    ...(port === 'mtls' ? AUTHENTICATION_ERRORS : []),
    ...route.errors,
  ]
  const parameters = [
    ...namesIn(path).map((name) => inPath(name, { type: 'string', minLength: 1 })),
    ...Object.entries(route.query ?? {}).map(([name, what]) => ({
      name,
      in: 'query',
      required: true,
      description: what,
      schema: { type: 'string' },
    })),
    ...Object.entries(route.headers ?? {}).map(([name, what]) => header(name, what)),
    ...(route.hasTag ? [header('If-None-Match', 'The ETag of an earlier reply.')] : []),
  ]
  const tag = { ETag: { description: 'Of this reply.', schema: { type: 'string' } } }
  return {
    operationId,
    tags: [port],
    servers: port === 'enroll' ? [serverOf('enroll_tls'), serverOf(port)] : [serverOf(port)],
    summary: route.summary,
    security: port === 'mtls' ? [{ agentCertificate: [] }] : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(route.request),
    responses: {
      200: describeReply(route.reply, route.hasTag ? tag : {}),
      ...(route.hasTag ? { 304: { description: 'Nothing new.', headers: REQUEST_ID } } : {}),
      ...describeRefusals(codes),
    },
  }
}

function describeOperation(operationId: string, operation: AdminOperation): Json {
  const { method, path, request } = operation
  const { properties } = request
  const parameters = [
    ...namesIn(path).map((field) => inPath(field, properties[field])),
    ...(method === 'GET'
      ? Object.entries(properties).map(([field, schema]) => ({ name: field, in: 'query', schema }))
      : []),
    ...(operation.does === 'creates'
      ? [
          header(
            'Idempotency-Key',
            'The hub carries out a request with this key once in 24 h.',
            '^[!-~]{16,255}$',
          ),
        ]
      : []),
    ...('versao' in properties
      ? [header('If-Match', 'The versao that the caller expects, as `"3"`.')]
      : []),
    ...('etag' in properties
      ? [header('If-Match', 'The ETag of the reply that showed the politica.')]
      : []),
    ...(operation.confirm === undefined
      ? []
      : [header('Cartorio-Confirmation', 'Of a session: the assertion of a passkey.')]),
  ]
  return {
    operationId,
    tags: ['admin'],
    summary: operation.summary,
    description: [`Needs the role ${operation.role} or a higher one.`, describeConfirm(operation)]
      .filter((sentence) => sentence !== '')
      .join(' '),
    security: OPERATOR_SECURITY,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(method === 'POST' && describeBody(withoutPath(request, path), describeRoom(operation))),
    responses: {
      ...describeReplies(operation),
      ...adminErrors(),
    },
  }
}

function describeConfirm({ confirm }: AdminOperation): string {
  if (confirm === undefined) return ''
  return `Where the hub asks for confirmations, a session confirms it by a passkey${describeWhen(confirm)}.`
}

function describeWhen(confirm: NonNullable<AdminOperation['confirm']>): string {
  if (confirm === 'always') return ''
  if (confirm === 'unless_first') return ', unless its owner has none yet'
  return ` when \`${confirm.ifTrue}\` is true`
}

/** Whatever can be rehearsed answers that with 200. */
function describeReplies(operation: AdminOperation): Json {
  const { does, status = 200, reply } = operation
  const done = { [status]: describeReply(reply, describeTag(operation)) }
  if (does === 'reads') return done
  const rehearsal = { $ref: '#/components/schemas/Rehearsal' }
  return status === 200
    ? { 200: describeReply({ anyOf: [reply, rehearsal] }, describeTag(operation)) }
    : { 200: describeReply(rehearsal, {}), ...done }
}

const TAGS = {
  versao: 'Its versao, as `"3"`.',
  politica: 'Changes whenever the politica changes.',
  etag: 'Of all that the plan looked at.',
}

function describeTag({ version }: AdminOperation): Json {
  if (version === undefined) return {}
  return { ETag: { description: TAGS[version], schema: { type: 'string' } } }
}

function describeChanges(): Json {
  const after = {
    name: 'after',
    in: 'query',
    required: false,
    description: 'The number of the last entry that the caller knows.',
    schema: { type: 'integer', minimum: 0 },
  }
  return {
    operationId: 'streamChanges',
    tags: ['admin'],
    summary: 'What has changed, as it changes: server-sent events with ids and no content.',
    description:
      'Needs the role viewer or a higher one. `data` is JSON; the schema `Changes` has a field for each `event`.',
    security: OPERATOR_SECURITY,
    parameters: [header('Last-Event-ID', 'In place of `after`: the last `id` that came.'), after],
    responses: { 200: describeReply('text/event-stream', {}), ...adminErrors() },
  }
}

function describeSignIn(): Json {
  const cookie = {
    'Set-Cookie': { description: 'The half of the browser.', schema: { type: 'string' } },
  }
  return {
    operationId: 'startSession',
    tags: ['admin'],
    summary: 'Begin a session of the console; only this reply has the half of the page.',
    description: 'For a page of this origin: `Sec-Fetch-Site: same-origin`.',
    security: [{ adminToken: [] }, { signInCode: [] }],
    ...describeBody(nothing),
    responses: { 200: describeReply(StartedSession, cookie), ...adminErrors() },
  }
}

/** OID-1: only where a provider is set. */
const OPENID_OPERATIONS = {
  showOpenid: {
    ...OPENID_ROUTES.show,
    summary: 'The OpenID provider by which people sign in; 404 where none is set.',
    request: undefined,
    replies: [OpenidSignIn],
  },
  startOpenid: {
    ...OPENID_ROUTES.start,
    summary: 'Begin a sign-in by the OpenID provider.',
    request: OpenidStart,
    replies: [OpenidStarted],
  },
  finishOpenid: {
    ...OPENID_ROUTES.finish,
    summary: 'Finish it: a sign-in code for a page of the console, an admin token for svc.',
    request: OpenidFinish,
    replies: [OpenidCode, OpenidToken],
  },
} as const

function describeOpenid(
  operationId: string,
  { summary, request, replies }: (typeof OPENID_OPERATIONS)[keyof typeof OPENID_OPERATIONS],
): Json {
  const [only, ...others] = replies
  return {
    operationId,
    tags: ['admin'],
    summary,
    security: [],
    ...(request && describeBody(request)),
    responses: {
      200: describeReply(others.length === 0 ? only : { anyOf: replies }, {}),
      ...adminErrors(),
    },
  }
}

function describeItself(): Json {
  return {
    operationId: 'openapi',
    tags: ['admin'],
    summary: 'This description.',
    security: OPERATOR_SECURITY,
    responses: { 200: describeReply({ type: 'object' }, {}), ...adminErrors() },
  }
}

/** The fields that stand in a path. */
function namesIn(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

function inPath(name: string, schema: unknown): Json {
  return { name, in: 'path', required: true, schema }
}

/** The request without the fields that stand in its path. */
function withoutPath(request: object, path: string): object {
  const names = namesIn(path)
  if (names.length === 0) return request
  const { properties = {}, required = [] } = request as ObjectSchema
  return {
    ...request,
    required: required.filter((name) => !names.includes(name)),
    properties: Object.fromEntries(
      Object.entries(properties).filter(([name]) => !names.includes(name)),
    ),
  }
}

function describeBody(request: object | undefined, description?: string): Json {
  if (request === undefined) return {}
  const content = { 'application/json': { schema: request } }
  return { requestBody: { ...(description && { description }), required: true, content } }
}

function describeRoom(operation: AdminOperation): string {
  const { bytesMax, stringsMax } = bodyRoomOf(operation)
  return `At most ${bytesMax / (1024 * 1024)} MiB, with at most ${stringsMax} names and strings.`
}

function describeReply(schema: unknown, headers: Json): Json {
  return {
    description: 'Done.',
    headers: { ...REQUEST_ID, ...headers },
    content: typeof schema === 'string' ? { [schema]: {} } : { 'application/json': { schema } },
  }
}

/** One response a status, which names its codes. */
function describeRefusals(codes: readonly WireErrorCode[]): Json {
  const byStatus = Map.groupBy(codes, (code) => WIRE_ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: names.map((name) => `\`${name}\`: ${WIRE_ERRORS[name].when}`).join(' '),
        headers: REQUEST_ID,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['error'],
              properties: { error: { enum: names } },
            },
          },
        },
      },
    ]),
  )
}

function adminErrors(): Json {
  const response = { $ref: '#/components/responses/AdminError' }
  return Object.fromEntries(ADMIN_STATUSES.map((status) => [status, response]))
}

function header(name: string, description: string, pattern?: string): Json {
  const schema = { type: 'string', ...(pattern === undefined ? {} : { pattern }) }
  return { name, in: 'header', required: false, description, schema }
}

function serverOf(port: PortName): Json {
  return { ...PORTS[port], variables: { host: { default: 'hub.example.org' } } }
}
