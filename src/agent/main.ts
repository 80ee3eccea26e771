import { runProgram } from '../platform/program.ts'
import { buildProgram } from './program.ts'

void runProgram('svc-agent', async () => {
  await buildProgram(process.env).parseAsync(process.argv)
})
