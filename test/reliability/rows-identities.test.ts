import { tryRows } from './try-rows.ts'

tryRows('identities')
