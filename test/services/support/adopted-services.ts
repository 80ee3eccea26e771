// Five services as a host has had them for years: with certificates of other CAs, of which certbot and acme.sh renew some.

import { chown, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../support/free-port.ts'
import { runTool } from '../../support/processes.ts'
import { pathOfTool } from '../../support/tools.ts'
import { idOf } from './accounts.ts'
import { postgresProgram } from './required-programs.ts'
import type { ServiceHost } from './service-host.ts'
import { startService } from './service-process.ts'

export interface FormerService {
  /** As `svc-agent adopt` names it. */
  readonly id: string
  readonly name: string
  readonly port: number
  readonly starttls?: 'postgres'
  /** Who renewed it, by the name that the plan has; undefined where nobody did. */
  readonly renewer?: string
}

interface FormerPair {
  readonly certificate: string
  readonly key: string
}

/** Makes a certificate as certbot would have got it, in certbot's own layout, by certbot's own code. */
const LAY_OUT_LINEAGE = `
import os, sys
from certbot import configuration
from certbot._internal import cli, storage
from certbot._internal.plugins import disco
directory, name, certificate, key = sys.argv[1:5]
words = ['certonly', '--standalone', '--config-dir', directory, '--work-dir', directory + '-work', '--logs-dir', directory + '-logs']
config = configuration.NamespaceConfig(cli.prepare_and_parse_args(disco.PluginsRegistry.find_all(), words))
for path in (config.live_dir, config.default_archive_dir, config.renewal_configs_dir):
    os.makedirs(path, 0o700, exist_ok=True)
read = lambda path: open(path, 'rb').read()
storage.RenewableCert.new_lineage(name, read(certificate), read(key), read(certificate), config)
`
const PYTHON = '/usr/bin/python3'

/** No other run of the tests on this machine has it: `adopt` sees the services of all of them. */
function nameOn(host: ServiceHost, service: string): string {
  return `${service}-${host.directory.slice(-6).toLowerCase()}.test`
}

/** In a name of its own, which no other service has. */
async function makeFormerPair(host: ServiceHost, name: string): Promise<FormerPair> {
  await mkdir(host.path('former'), { recursive: true, mode: 0o700 })
  const [certificate, key] = [host.path(`former/${name}.crt`), host.path(`former/${name}.key`)]
  const kind = ['-newkey', 'rsa:2048', '-nodes', '-days', '60', '-subj', `/CN=${name}`]
  const names = ['-addext', `subjectAltName=DNS:${name},DNS:www.${name}`]
  await runTool('openssl', ['req', '-x509', ...kind, ...names, '-out', certificate, '-keyout', key])
  return { certificate, key }
}

/** nginx reads the links that certbot keeps; the server is in a file of its own, which is included through a link. */
export async function startFormerNginx(host: ServiceHost): Promise<FormerService> {
  const name = nameOn(host, 'nginx')
  const port = await findFreePort()
  const { certificate, key } = await makeFormerPair(host, name)
  const directory = host.path('etc/letsencrypt')
  await mkdir(host.path('etc'), { recursive: true })
  await runTool(PYTHON, ['-c', LAY_OUT_LINEAGE, directory, name, certificate, key])
  await runTool(PYTHON, ['-c', LAY_OUT_LINEAGE, directory, 'other.test', certificate, key])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((one) => `  ${one}_temp_path ${host.path(`run/${one}`)};\n`)
    .join('')
  const site = await host.write(
    `etc/nginx/sites-available/site`,
    `server {
  listen 127.0.0.1:${port} ssl; # managed by Certbot
  server_name ${name} www.${name};
  include snippets/certificate.conf;
  location / { return 200 "served; {\\n"; }
}
`,
  )
  const live = join(directory, 'live', name)
  await host.write(
    'etc/nginx/snippets/certificate.conf',
    `ssl_certificate ${live}/fullchain.pem;\nssl_certificate_key "${live}/privkey.pem";\n`,
  )
  await mkdir(host.path('etc/nginx/sites-enabled'))
  await symlink(site, host.path('etc/nginx/sites-enabled/site'))
  const configPath = await host.write(
    'etc/nginx/nginx.conf',
    `user www-data;
daemon off;
pid ${host.path('run/nginx.pid')};
error_log ${host.path('log/error.log')} notice;
events { worker_connections 512; }
http {
  access_log off;
${temporary}  include ${host.path('etc/nginx/sites-enabled')}/*;
}
`,
  )
  const program = pathOfTool('nginx')
  await startService(host, { program, args: ['-c', configPath], port, stopSignal: 'SIGTERM' })
  return { id: `${name}-nginx`, name, port, renewer: `certbot (${name})` }
}

/** Debian's own files, moved to a root of their own; certificate and chain are files of their own, and nobody renews them. */
export async function startFormerApache(host: ServiceHost): Promise<FormerService> {
  const name = nameOn(host, 'apache')
  const port = await findFreePort()
  const { certificate, key } = await makeFormerPair(host, name)
  const root = host.path('etc/apache2')
  await mkdir(host.path('etc'), { recursive: true })
  await cp('/etc/apache2', root, { recursive: true, verbatimSymlinks: true })
  const text = await readFile(certificate, 'utf8')
  const paths = {
    cert: await host.write('etc/apache2/ssl/site.crt', text),
    key: await host.write('etc/apache2/ssl/site.key', await readFile(key, 'utf8'), 0o600),
    chain: await host.write('etc/apache2/ssl/site-chain.crt', text),
  }
  for (const module of ['ssl', 'socache_shmcb']) {
    const load = `../mods-available/${module}.load`
    await symlink(load, join(root, 'mods-enabled', `${module}.load`))
  }
  for (const site of await readdir(join(root, 'sites-enabled'))) {
    await runTool('rm', ['-f', join(root, 'sites-enabled', site)])
  }
  await writeFile(
    join(root, 'ports.conf'),
    `<IfModule ssl_module>\n\tListen 127.0.0.1:${port}\n</IfModule>\n`,
  )
  await writeFile(
    join(root, 'sites-enabled/site.conf'),
    `<VirtualHost 127.0.0.1:${port}>
  ServerName ${name}
  ServerAlias www.${name}
  SSLEngine on
  SSLCertificateFile ${paths.cert}
  SSLCertificateKeyFile "\${SITE_DIR}/site.key"
  SSLCertificateChainFile ssl/site-chain.crt
</VirtualHost>
`,
  )
  const variables = {
    APACHE_RUN_DIR: host.path('run'),
    APACHE_PID_FILE: host.path('run/apache2.pid'),
    APACHE_RUN_USER: 'www-data',
    APACHE_RUN_GROUP: 'www-data',
    APACHE_LOG_DIR: host.path('log'),
    SITE_DIR: join(root, 'ssl'),
  }
  const defined = Object.entries(variables).map(([key_, value]) => `Define ${key_} ${value}\n`)
  const configPath = join(root, 'apache2.conf')
  const debians = await readFile(configPath, 'utf8')
  await writeFile(
    configPath,
    `ServerRoot ${root}\nServerName localhost\n${defined.join('')}${debians}`,
  )
  await startService(host, {
    program: pathOfTool('apache2'),
    args: ['-d', root, '-f', configPath, '-DFOREGROUND'],
    port,
    stopSignal: 'SIGTERM',
  })
  return { id: `${name}-apache`, name, port }
}

/** HAProxy reads a directory; acme.sh installs certificate and key of one of its files there. */
export async function startFormerHaproxy(host: ServiceHost): Promise<FormerService> {
  const name = nameOn(host, 'haproxy')
  const port = await findFreePort()
  const pair = await makeFormerPair(host, name)
  const other = await makeFormerPair(host, 'zz-other.test')
  const [certificate, key] = [
    await readFile(pair.certificate, 'utf8'),
    await readFile(pair.key, 'utf8'),
  ]
  const certPath = await host.write('etc/haproxy/certs/site.pem', certificate)
  const keyPath = await host.write('etc/haproxy/certs/site.pem.key', key, 0o640)
  await chown(keyPath, 0, await idOf('group', 'haproxy'))
  const both = (await readFile(other.certificate, 'utf8')) + (await readFile(other.key, 'utf8'))
  await host.write('etc/haproxy/certs/zz-other.pem', both, 0o600)
  await host.write(
    `home/.acme.sh/${name}/${name}.conf`,
    `Le_Domain='${name}'
Le_Alt='www.${name}'
Le_Webroot='/var/www/html'
Le_Keylength='2048'
Le_RealCertPath=''
Le_RealCACertPath=''
Le_RealKeyPath='${keyPath}'
Le_ReloadCmd='__ACME_BASE64__START_${Buffer.from('systemctl reload haproxy').toString('base64')}__ACME_BASE64__END_'
Le_RealFullChainPath='${certPath}'
`,
    0o600,
  )
  const configPath = await host.write(
    'etc/haproxy/haproxy.cfg',
    `global
  user haproxy
  group haproxy
  crt-base ${host.path('etc/haproxy')}
  stats socket ${host.path('run/haproxy.sock')} mode 600 level admin expose-fd listeners
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
frontend site
  bind 127.0.0.1:${port} ssl crt certs # a directory
  http-request return status 200 content-type text/plain string served
`,
  )
  await startService(host, {
    program: pathOfTool('haproxy'),
    args: ['-W', '-f', configPath, '-p', host.path('run/haproxy.pid')],
    port,
    stopSignal: 'SIGTERM',
  })
  return { id: `${name}-haproxy`, name, port, renewer: `acme.sh (${name})` }
}

/** PostgreSQL's settings are in a directory that its own file includes; the key is its group's too. */
export async function startFormerPostgresql(host: ServiceHost): Promise<FormerService> {
  const name = nameOn(host, 'postgresql')
  const port = await findFreePort()
  const pair = await makeFormerPair(host, name)
  const certificatePath = await host.write(
    'etc/ssl/certs/site.pem',
    await readFile(pair.certificate, 'utf8'),
  )
  const keyPath = await host.write(
    'etc/ssl/private/site.key',
    await readFile(pair.key, 'utf8'),
    0o640,
  )
  await chown(keyPath, 0, await idOf('group', 'postgres'))
  const [uid, gid] = [await idOf('passwd', 'postgres'), await idOf('group', 'postgres')]
  await mkdir(host.path('postgresql'))
  await chown(host.path('postgresql'), uid, gid)
  const dataDir = host.path('postgresql/main')
  const asPostgres = ['--reuid=postgres', '--regid=postgres', '--init-groups']
  const initdb = [postgresProgram('initdb'), '-D', dataDir]
  const how = ['--no-sync', '--no-locale', '--encoding=UTF8', '--auth=trust']
  await runTool('/usr/bin/setpriv', [...asPostgres, ...initdb, ...how])
  const configPath = await host.write(
    'etc/postgresql/15/main/postgresql.conf',
    `data_directory = '${dataDir}'
hba_file = '${dataDir}/pg_hba.conf'
ident_file = '${dataDir}/pg_ident.conf'
listen_addresses = '127.0.0.1'
port = 1 # the next one counts
unix_socket_directories = ''
include_dir = 'conf.d'
`,
  )
  await host.write(
    'etc/postgresql/15/main/conf.d/ssl.conf',
    `ssl = on\nport ${port}\nssl_cert_file = '${certificatePath}'\nssl_key_file = '${keyPath}'\n`,
  )
  await startService(host, {
    program: '/usr/bin/setpriv',
    args: [
      ...asPostgres,
      postgresProgram('postgres'),
      '-D',
      dataDir,
      '-c',
      `config_file=${configPath}`,
    ],
    port,
    stopSignal: 'SIGINT',
  })
  return { id: `${name}-postgresql`, name, port, starttls: 'postgres' }
}

/** Caddy with files of its own, which a snippet names. */
export async function startFormerCaddy(host: ServiceHost): Promise<FormerService> {
  const name = nameOn(host, 'caddy')
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const pair = await makeFormerPair(host, name)
  const certificate = await readFile(pair.certificate, 'utf8')
  const certPath = await host.write('etc/caddy/tls/site.pem', certificate)
  const keyPath = await host.write(
    'etc/caddy/tls/site.key',
    await readFile(pair.key, 'utf8'),
    0o600,
  )
  const configPath = await host.write(
    'etc/caddy/Caddyfile',
    `{
	admin 127.0.0.1:${adminPort}
	auto_https disable_redirects
	storage file_system ${host.path('run/caddy')}
}
(certificate) {
	tls ${certPath} ${keyPath}
}
https://${name}:${port} {
	bind 127.0.0.1
	import certificate
	respond "served"
}
`,
  )
  await startService(host, {
    program: pathOfTool('caddy'),
    args: ['run', '--config', configPath, '--adapter', 'caddyfile'],
    port,
    stopSignal: 'SIGTERM',
  })
  return { id: `${name}-caddy`, name, port }
}
