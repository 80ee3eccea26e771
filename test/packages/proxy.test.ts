// The shipped reverse-proxy examples: nginx's in front of a real hub, Caddy's read by caddy.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Agent, request } from 'undici'
import { ROOT } from '../../tools/source-files.ts'
import { findFreePort } from '../support/free-port.ts'
import type { TestHub } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { runProgram, waitUntil } from '../support/processes.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import { pathOfTool, withTools } from '../support/tools.ts'

const NAME = 'hub.example.org'

describe('nginx before the enroll port', withTools('nginx', 'openssl'), () => {
  const started = new AsyncDisposableStack()
  let hub: TestHub
  let directory: string
  let certificatePath: string
  let port: number

  before(async () => {
    const ca = started.use(await startDevCaProcess())
    hub = started.use(
      await startHubProcess({
        caEnvironment: ca.environment,
        environment: { SVC_TRUSTED_PROXIES: '127.0.0.1', RUST_LOG: 'debug' },
      }),
    )
    directory = await mkdtemp(join(tmpdir(), 'nginx-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    certificatePath = makeCertificate(directory)
    port = await findFreePort()
    const nginx = await startNginx(directory, port, hub.ports.enroll)
    started.defer(() => stop(nginx))
    await waitUntil('nginx to listen', () => post('{}').catch(() => undefined))
  })
  after(() => started.disposeAsync())

  /** One request through nginx, from an address of its own. */
  async function post(
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string; requestId: string }> {
    const ca = await readFile(certificatePath, 'utf8')
    const dispatcher = new Agent({
      connect: { ca, servername: NAME },
      localAddress: '127.0.0.77',
    })
    try {
      const reply = await request(`https://127.0.0.1:${port}/v1/enroll`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
      const requestId = String(reply.headers['x-request-id'])
      return { status: reply.statusCode, text: await reply.body.text(), requestId }
    } finally {
      await dispatcher.close()
    }
  }

  test('an agent enrols through it, over TLS', async () => {
    const dataDir = join(directory, 'agent')
    const enrolled = await runProgram('svc-agent', ['enroll'], {
      SVC_SERVER_URL: `https://localhost:${port}`,
      SVC_SERVER_CA_PATH: certificatePath,
      SVC_AGENT_DATA_DIR: dataDir,
      SVC_AGENT_HOSTNAME: 'web-1.test',
      SVC_AGENT_ROLE: 'web',
      SVC_ENROLL_TOKEN: await hub.createToken({ hostname: 'web-1.test' }),
    })
    assert.equal(enrolled.status, 0, enrolled.stderr)
    assert.ok(existsSync(join(dataDir, 'identity/agent.crt')))
  })

  test('the hub sees the host’s own address, whatever the host claims', async () => {
    const { requestId } = await post('{}', { 'x-forwarded-for': '192.0.2.1' })
    const entry = await waitUntil('the request in the log', () =>
      hub
        .logEntries()
        .find((line) => line['request_id'] === requestId && line['remote'] !== undefined),
    )
    assert.equal(entry['remote'], '127.0.0.77')
  })

  test('a body of 100 kB gets the hub’s own error', async () => {
    const { status, text } = await post(JSON.stringify({ token: 'x'.repeat(100_000) }))
    assert.deepEqual({ status, text }, { status: 413, text: '{"error":"body_too_large"}' })
  })
})

describe('the Caddyfile', () => {
  test('is valid', withTools('caddy'), () => {
    const file = join(ROOT, 'deploy/proxy/Caddyfile')
    execFileSync(pathOfTool('caddy'), ['validate', '--adapter', 'caddyfile', '--config', file], {
      stdio: 'pipe',
    })
  })
})

function makeCertificate(directory: string): string {
  const path = join(directory, 'hub.pem')
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const names = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME},DNS:localhost`]
  const files = ['-keyout', join(directory, 'hub.key'), '-out', path]
  execFileSync(pathOfTool('openssl'), ['req', '-x509', ...key, ...names, '-days', '2', ...files], {
    stdio: 'pipe',
  })
  return path
}

/** The shipped file, with this test's ports and paths in the place of its own. */
async function startNginx(
  directory: string,
  port: number,
  enrollPort: number,
): Promise<ChildProcess> {
  const shipped = await readFile(join(ROOT, 'deploy/proxy/nginx.conf'), 'utf8')
  const server = shipped
    .replace('server 127.0.0.1:8444;', `server 127.0.0.1:${enrollPort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replaceAll('/etc/nginx/tls/', `${directory}/`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  )
  const path = join(directory, 'nginx.conf')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  await writeFile(
    path,
    `${user}daemon off;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
events {}
http {
access_log off;
${temporary.join('\n')}
${server}
}`,
  )
  const nginx = pathOfTool('nginx')
  execFileSync(nginx, ['-t', '-p', directory, '-c', path], { stdio: 'pipe' })
  return spawn(nginx, ['-p', directory, '-c', path], { stdio: 'ignore' })
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
