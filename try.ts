import { startDevCa } from './test/support/dev-ca.ts'
import { enrollHost } from './test/support/enrolled-host.ts'
import { WITH_ADMIN_PORT } from './test/support/hub.ts'
import { startTestHub } from './test/support/test-hub.ts'
import { chromium } from 'playwright-core'
const ca = await startDevCa()
const hub = await startTestHub({ caEnvironment: ca.environment, environment: { ...WITH_ADMIN_PORT, SVC_SERVER_CN: 'localhost' } })
const made = await hub.svc('admin','token','create','--name','oncall','--role','admin','--ttl','1h','--json')
const token = JSON.parse(made.stdout).token
for (let i=0;i<30;i++) await hub.createToken({hostname:`web-${i}.sao.example.org`})
const browser = await chromium.launch({ executablePath: '/usr/lib/chromium/chromium-headless-shell', args: ['--no-sandbox'] })
const page = await browser.newPage({ ignoreHTTPSErrors: true, viewport: { width: 1440, height: 900 } })
page.on('console', (m) => console.log('console', m.type(), m.text()))
page.on('pageerror', (e) => console.log('pageerror', e.message))
page.on('requestfailed', (r) => console.log('failed', r.url(), r.failure()?.errorText))
page.on('response', (r) => console.log(r.status(), r.url()))
const url = `https://localhost:${hub.ports.admin}/`
await page.goto(url)
await page.waitForSelector('#token')
await page.screenshot({ path: '/tmp/try/signin.png' })
await page.fill('#token', token); await page.click('button[type=submit]')
await page.waitForTimeout(1500)
await page.screenshot({ path: '/tmp/try/home.png' })
await page.goto(url + 'console/hosts')
await page.waitForTimeout(1500)
await page.screenshot({ path: '/tmp/try/hosts.png' })
await browser.close()
await hub[Symbol.asyncDispose](); await ca[Symbol.asyncDispose]()
process.exit(0)
