-- Ledger, db.copying.copy
CREATE TABLE campaign ( id INTEGER NOT NULL, uuid VARCHAR(36) NOT NULL, name VARCHAR(200) NOT NULL, problem TEXT
    NOT NULL, method VARCHAR(40) NOT NULL, depth INTEGER NOT NULL, seed INTEGER NOT NULL, tasks INTEGER NOT
    NULL, work FLOAT NOT NULL, created FLOAT NOT NULL, recheck_share FLOAT NOT NULL, secret VARCHAR(64) NOT
    NULL, PRIMARY KEY (id), UNIQUE (name) );

-- Ledger, db.copying.copy
CREATE TABLE ledger ( uuid VARCHAR(36) NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (uuid) );

-- Ledger, db.copying.copy
CREATE TABLE voter ( id INTEGER NOT NULL, kind VARCHAR(10) NOT NULL, host VARCHAR(255) NOT NULL, token
    VARCHAR(64) NOT NULL, device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64) NOT NULL, valid INTEGER NOT
    NULL, distrusted FLOAT, PRIMARY KEY (id) );

-- Ledger, db.copying.copy
CREATE INDEX voter_distrusted ON voter (id)
WHERE distrusted IS NOT NULL;

-- Ledger, db.copying.copy
CREATE INDEX voter_machine ON voter (host, token);

-- Ledger, db.copying.copy
CREATE TABLE worker ( id VARCHAR(36) NOT NULL, host VARCHAR(255) NOT NULL, process VARCHAR(80) NOT NULL, started
    FLOAT NOT NULL, device_kind VARCHAR(10) NOT NULL, kernels VARCHAR(64), voter_id INTEGER, last_seen FLOAT,
    ended FLOAT, ending VARCHAR(12), cores INTEGER, processes INTEGER, device_model VARCHAR(200), slurm_job
    VARCHAR(40), slurm_index INTEGER, PRIMARY KEY (id) );

-- Ledger, db.copying.copy
CREATE INDEX worker_voter ON worker (voter_id);

-- Ledger, db.copying.copy
CREATE TABLE event ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER, attempt_id INTEGER,
    at FLOAT NOT NULL, kind VARCHAR(12) NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (id), FOREIGN
    KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy, Database
CREATE TABLE notice ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, channel VARCHAR(10) NOT NULL, kind
    VARCHAR(12) NOT NULL, about BIGINT NOT NULL, tries INTEGER NOT NULL, next_try FLOAT NOT NULL, told FLOAT,
    PRIMARY KEY (id), UNIQUE (campaign_id, channel, kind, about), FOREIGN KEY(campaign_id) REFERENCES campaign
    (id) );

-- Ledger, db.copying.copy
CREATE TABLE task ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, work FLOAT NOT NULL, state
    VARCHAR(12) NOT NULL, failures INTEGER NOT NULL, deaths INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY
    (campaign_id, task_index), FOREIGN KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy
CREATE INDEX task_queue ON task (campaign_id, state, work);

-- Ledger, db.copying.copy
CREATE TABLE token ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, role VARCHAR(10) NOT NULL, digest
    VARCHAR(64) NOT NULL, created FLOAT NOT NULL, expires FLOAT, label VARCHAR(100) NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(campaign_id) REFERENCES campaign (id), UNIQUE (digest) );

-- Ledger, db.copying.copy
CREATE TABLE attempt ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, worker_id
    VARCHAR(36) NOT NULL, nonce VARCHAR(64), granted FLOAT NOT NULL, began FLOAT, deadline FLOAT NOT NULL,
    seconds FLOAT, copied BOOLEAN DEFAULT 0 NOT NULL, steps BIGINT, ended FLOAT, outcome VARCHAR(12), note TEXT,
    questioned FLOAT, PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id,
    task_index), FOREIGN KEY(worker_id) REFERENCES worker (id) );

-- Ledger, db.copying.copy
CREATE INDEX attempt_alone ON attempt (campaign_id, granted)
WHERE ended IS NULL
AND copied = 0;

-- Ledger, db.copying.copy
CREATE INDEX attempt_open ON attempt (deadline)
WHERE ended IS NULL;

-- Ledger, db.copying.copy
CREATE INDEX attempt_task ON attempt (campaign_id, task_index);

-- Ledger, db.copying.copy
CREATE INDEX attempt_worker ON attempt (worker_id, ended, outcome, granted, began);

-- Ledger, db.copying.copy
CREATE TABLE result ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL,
    voter_id INTEGER, confirmed_by INTEGER, doubt VARCHAR(10), listed BOOLEAN NOT NULL, value TEXT NOT NULL,
    residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT NOT NULL, provenance TEXT NOT NULL, accepted
    FLOAT NOT NULL, lot FLOAT NOT NULL, PRIMARY KEY (campaign_id, task_index), FOREIGN KEY(campaign_id,
    task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE INDEX result_confirmed ON result (confirmed_by)
WHERE confirmed_by IS NOT NULL;

-- Ledger, db.copying.copy
CREATE INDEX result_doubt ON result (campaign_id, doubt)
WHERE doubt IS NOT NULL;

-- Ledger, db.copying.copy
CREATE INDEX result_drawn ON result (campaign_id, voter_id, confirmed_by, lot)
WHERE listed = 1;

-- Ledger, db.copying.copy
CREATE INDEX result_voter ON result (voter_id);

-- Ledger, db.copying.copy
CREATE TABLE witness ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL,
    attempt_id INTEGER NOT NULL, value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds
    FLOAT NOT NULL, provenance TEXT NOT NULL, accepted FLOAT NOT NULL, lot FLOAT NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id)
    REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE INDEX witness_task ON witness (campaign_id, task_index);

-- Ledger, db.copying.copy, Database
CREATE VIEW task_overview AS SELECT campaign.name AS campaign, task.task_index AS task, task.state, task.work,
    task.failures, task.deaths, (SELECT count(*) AS count_1
FROM attempt AS attempt_1
WHERE attempt_1.campaign_id = task.campaign_id
AND attempt_1.task_index = task.task_index) AS attempts, attempt.outcome, strftime('%Y-%m-%dT%H:%M:%fZ',
    attempt.granted, 'unixepoch') AS granted, strftime('%Y-%m-%dT%H:%M:%fZ', attempt.began, 'unixepoch') AS
    began, strftime('%Y-%m-%dT%H:%M:%fZ', attempt.ended, 'unixepoch') AS ended, result.seconds, result.value,
    CASE WHEN (result.confirmed_by IS NOT NULL) THEN 1 WHEN (result.attempt_id IS NOT NULL) THEN 0 END AS
    confirmed, result.doubt, attempt.worker_id AS worker, worker.host, worker.device_kind, worker.device_model,
    CASE WHEN (worker.slurm_index IS NULL) THEN worker.slurm_job ELSE worker.slurm_job || '_' ||
    CAST(worker.slurm_index AS VARCHAR) END AS slurm
FROM task
JOIN campaign ON campaign.id = task.campaign_id
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
LEFT OUTER JOIN attempt ON attempt.id = coalesce(result.attempt_id, (SELECT max(attempt_1.id) AS max_1
FROM attempt AS attempt_1
WHERE attempt_1.campaign_id = task.campaign_id
AND attempt_1.task_index = task.task_index))
LEFT OUTER JOIN worker ON worker.id = attempt.worker_id;

-- Ledger, db.copying.copy, Database
CREATE VIEW worker_overview AS SELECT worker.id AS worker, (SELECT campaign.name
FROM campaign
JOIN attempt AS attempt_1 ON attempt_1.campaign_id = campaign.id
WHERE attempt_1.worker_id = worker.id
LIMIT 1 OFFSET 0) AS campaign, worker.host, worker.process, worker.device_kind, worker.device_model,
    worker.cores, worker.processes, worker.kernels, CASE WHEN (worker.slurm_index IS NULL) THEN worker.slurm_job
    ELSE worker.slurm_job || '_' || CAST(worker.slurm_index AS VARCHAR) END AS slurm,
    strftime('%Y-%m-%dT%H:%M:%fZ', worker.started, 'unixepoch') AS started, strftime('%Y-%m-%dT%H:%M:%fZ',
    worker.last_seen, 'unixepoch') AS last_seen, strftime('%Y-%m-%dT%H:%M:%fZ', worker.ended, 'unixepoch') AS
    ended, worker.ending, strftime('%Y-%m-%dT%H:%M:%fZ', voter.distrusted, 'unixepoch') AS distrusted,
    coalesce(numbers.leased, 0) AS leased, coalesce(numbers.done, 0) AS done, coalesce(numbers.released, 0) AS
    released, coalesce(numbers.preempted, 0) AS preempted, coalesce(numbers.expired, 0) AS expired,
    coalesce(numbers.failed, 0) AS failed, coalesce(numbers.died, 0) AS died, coalesce(numbers.superseded, 0) AS
    superseded, coalesce(numbers.busy_seconds, 0) AS busy_seconds, coalesce(numbers.lost_seconds, 0) AS
    lost_seconds
FROM worker
LEFT OUTER JOIN voter ON voter.id = worker.voter_id
LEFT OUTER JOIN (SELECT attempt.worker_id AS worker_id, sum(CASE WHEN (attempt.ended IS NULL) THEN 1 ELSE 0 END)
    AS leased, sum(CASE WHEN (attempt.outcome = 'done') THEN 1 ELSE 0 END) AS done, sum(CASE WHEN
    (attempt.outcome = 'released') THEN 1 ELSE 0 END) AS released, sum(CASE WHEN (attempt.outcome = 'preempted')
    THEN 1 ELSE 0 END) AS preempted, sum(CASE WHEN (attempt.outcome = 'expired') THEN 1 ELSE 0 END) AS expired,
    sum(CASE WHEN (attempt.outcome = 'failed') THEN 1 ELSE 0 END) AS failed, sum(CASE WHEN (attempt.outcome =
    'died') THEN 1 ELSE 0 END) AS died, sum(CASE WHEN (attempt.outcome = 'superseded') THEN 1 ELSE 0 END) AS
    superseded, sum(CASE WHEN (attempt.outcome IN ('done', 'superseded')) THEN attempt.ended -
    coalesce(attempt.began, attempt.granted) ELSE 0.0 END) AS busy_seconds, sum(CASE WHEN (attempt.ended IS NULL
    OR attempt.outcome IN ('done', 'superseded')) THEN 0.0 ELSE attempt.ended - coalesce(attempt.began,
    attempt.granted) END) AS lost_seconds
FROM attempt
GROUP BY attempt.worker_id) AS numbers ON numbers.worker_id = worker.id;

-- Ledger, db.copying.copy, Database
CREATE VIEW throughput AS SELECT campaign.name AS campaign, strftime('%Y-%m-%dT%H:%M:%fZ', CAST(minutes.minute *
    60 AS FLOAT), 'unixepoch') AS minute, minutes.tasks, minutes.work, minutes.seconds
FROM campaign
JOIN (SELECT result.campaign_id AS campaign_id, CAST(result.accepted / 60 AS INTEGER) AS minute, count(*) AS
    tasks, sum(task.work) AS work, sum(result.seconds) AS seconds
FROM result
JOIN task ON task.campaign_id = result.campaign_id
AND task.task_index = result.task_index
WHERE (result.voter_id NOT IN (SELECT voter.id
FROM voter
WHERE voter.kind != 'worker'))
GROUP BY CAST(result.accepted / 60 AS INTEGER), result.campaign_id) AS minutes ON minutes.campaign_id =
    campaign.id;

-- Ledger, db.copying.copy, Database
CREATE VIEW lost_time AS SELECT campaign.name AS campaign, lost.outcome, lost.attempts, lost.seconds,
    lost.longest, strftime('%Y-%m-%dT%H:%M:%fZ', lost.first, 'unixepoch') AS first,
    strftime('%Y-%m-%dT%H:%M:%fZ', lost.last, 'unixepoch') AS last
FROM campaign
JOIN (SELECT attempt.campaign_id AS campaign_id, attempt.outcome AS outcome, count(*) AS attempts,
    sum(attempt.ended - coalesce(attempt.began, attempt.granted)) AS seconds, max(attempt.ended -
    coalesce(attempt.began, attempt.granted)) AS longest, min(attempt.ended) AS first, max(attempt.ended) AS
    last
FROM attempt
WHERE attempt.outcome IN ('preempted', 'expired', 'released', 'failed', 'died')
AND NOT (EXISTS (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
AND result.attempt_id = attempt.id))
AND NOT (EXISTS (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = attempt.campaign_id
AND witness.task_index = attempt.task_index
AND witness.attempt_id = attempt.id))
GROUP BY attempt.campaign_id, attempt.outcome) AS lost ON lost.campaign_id = campaign.id;

-- Ledger, db.copying.copy, Database
CREATE VIEW disagreements AS SELECT campaign.name AS campaign, result.task_index AS task, result.doubt,
    result.value AS accepted_value, strftime('%Y-%m-%dT%H:%M:%fZ', result.accepted, 'unixepoch') AS accepted_at,
    accepted_attempt.worker_id AS accepted_worker, accepted_worker.host AS accepted_host,
    accepted_worker.device_model AS accepted_device, accepted_worker.kernels AS accepted_kernels, witness.value
    AS other_value, strftime('%Y-%m-%dT%H:%M:%fZ', witness.accepted, 'unixepoch') AS other_at,
    other_attempt.worker_id AS other_worker, other_worker.host AS other_host, other_worker.device_model AS
    other_device, other_worker.kernels AS other_kernels, strftime('%Y-%m-%dT%H:%M:%fZ', voter.distrusted,
    'unixepoch') AS other_distrusted
FROM witness
JOIN result ON result.campaign_id = witness.campaign_id
AND result.task_index = witness.task_index
JOIN campaign ON campaign.id = witness.campaign_id
JOIN attempt AS accepted_attempt ON accepted_attempt.id = result.attempt_id
JOIN worker AS accepted_worker ON accepted_worker.id = accepted_attempt.worker_id
JOIN attempt AS other_attempt ON other_attempt.id = witness.attempt_id
JOIN worker AS other_worker ON other_worker.id = other_attempt.worker_id
LEFT OUTER JOIN voter ON voter.id = other_worker.voter_id
WHERE witness.value != result.value;

-- Ledger, db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (?, ((julianday('now') - 2440587.5) * 86400.0));

-- Ledger.uuid, Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
SELECT ledger.uuid
FROM ledger;

-- Ledger.create_campaign, Ledger.campaign, Ledger.take
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share, campaign.secret
FROM campaign
WHERE campaign.name = ?;

-- Ledger.create_campaign
INSERT INTO campaign (uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share, secret)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?, ?)
ON CONFLICT DO NOTHING
RETURNING id;

-- Ledger.create_campaign
INSERT INTO task (task_index, work, campaign_id, state, failures, deaths) SELECT json_extract(anon_1.value, ?)
    AS json_extract_1, json_extract(anon_1.value, ?) AS json_extract_3, ? AS anon_2, ? AS anon_3, ? AS anon_4, ?
    AS anon_5
FROM json_each(?) AS anon_1
WHERE 1 = 1;

-- Ledger.create_campaign, LeasedTasks.fail, LeasedTasks.die, Campaign.deliver, Campaign.question,
-- Campaign.judge, Ledger.take
INSERT INTO event (campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?, ?);

-- Ledger.campaigns, db.copying.copy
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share, campaign.secret
FROM campaign
ORDER BY campaign.id;

-- Ledger.enrol, Campaign.judge, Ledger.take, Ledger.leave
SELECT voter.token
FROM voter
JOIN worker ON worker.voter_id = voter.id
WHERE worker.id = ?;

-- Ledger.enrol, Campaign.judge
SELECT voter.id
FROM voter
WHERE voter.host = ?
AND voter.token = ?
AND voter.kind = ?
AND voter.device_kind = ?
AND voter.kernels = ?
AND voter.distrusted IS NULL
ORDER BY voter.id
LIMIT ? OFFSET ?;

-- Ledger.enrol, Campaign.judge, Ledger.take
INSERT INTO voter (kind, host, token, device_kind, kernels, valid)
VALUES (?, ?, ?, ?, ?, ?)
RETURNING id;

-- Ledger.enrol, Campaign.judge, Ledger.take
INSERT INTO worker (id, host, process, started, device_kind, kernels, voter_id, last_seen, cores, processes,
    device_model, slurm_job, slurm_index)
VALUES (?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?, ?, ?, ((julianday('now') - 2440587.5) *
    86400.0), ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING;

-- LeasedTasks.lease, LeasedTasks.renew, LeasedTasks.take_back, LeasedTasks.lease_holders,
-- LeasedTasks.is_worked_at, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.reopen, LeasedTasks.die, LeasedTasks.pace, Campaign.set_recheck_share, Campaign.deliver,
-- Campaign.results, Campaign.question, Campaign.rechecked_tasks, Campaign.judge, Campaign.replication,
-- Campaign.export, Campaign.new_token, Campaign.tokens, Campaign.revoke_token, Campaign.revoke_tokens,
-- Campaign.progress, Campaign.standing, Campaign.overview, Campaign.task_records, Campaign.history,
-- Campaign.cancel, Campaign.rename, Campaign.trusted_export, Campaign.delete
SELECT campaign.uuid
FROM campaign
WHERE campaign.id = ?;

-- LeasedTasks.lease
UPDATE attempt
SET deadline=(((julianday('now') - 2440587.5) * 86400.0) + attempt.seconds)
WHERE attempt.ended IS NULL
AND attempt.deadline > ((julianday('now') - 2440587.5) * 86400.0) + attempt.seconds + ?;

-- LeasedTasks.lease
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.deadline < ((julianday('now') - 2440587.5) * 86400.0)
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index, worker_id;

-- LeasedTasks.lease
SELECT voter.host, voter.token, voter.device_kind, voter.kernels, voter.distrusted, campaign.recheck_share AS
    share, EXISTS (SELECT result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL) AS doubts, EXISTS (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) AS distrust
FROM voter
JOIN worker ON worker.voter_id = voter.id
JOIN campaign ON campaign.id = ?
WHERE worker.id = ?;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    task.campaign_id, task.task_index, ? AS anon_1, ? AS anon_2, ((julianday('now') - 2440587.5) * 86400.0) AS
    anon_3, ((julianday('now') - 2440587.5) * 86400.0) + ? AS anon_4, ? AS anon_5, 0 AS anon_6
FROM task
WHERE task.campaign_id = ?
AND task.state = ?
AND (task.deaths = ? OR NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
WHERE attempt.campaign_id = task.campaign_id
AND attempt.task_index = task.task_index
AND attempt.outcome = ?
AND worker.host = (SELECT worker.host
FROM worker
WHERE worker.id = ?))))
ORDER BY task.work DESC
LIMIT ? OFFSET ?
RETURNING task_index, id;

-- LeasedTasks.lease
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)))
RETURNING task_index, work;

-- LeasedTasks.lease
UPDATE worker
SET last_seen=((julianday('now') - 2440587.5) * 86400.0), ended=NULL, ending=NULL
WHERE worker.id = ?;

-- LeasedTasks.lease, LeasedTasks.take_back, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.die, Campaign.deliver, Campaign.judge, Ledger.take
SELECT task.task_index
FROM task
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)))
ORDER BY task.task_index;

-- LeasedTasks.lease, LeasedTasks.take_back, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.die, Campaign.deliver, Campaign.judge, Ledger.take
UPDATE attempt
SET copied=?
WHERE attempt.campaign_id = ?
AND (attempt.task_index IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL
RETURNING task_index;

-- LeasedTasks.lease, LeasedTasks.take_back, LeasedTasks.release, LeasedTasks.release_worker, LeasedTasks.fail,
-- LeasedTasks.die, Campaign.deliver, Campaign.judge, Ledger.take
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)))
AND task.state = ?;

-- LeasedTasks.lease, LeasedTasks.release_worker
UPDATE worker
SET ended=((julianday('now') - 2440587.5) * 86400.0), ending=?
WHERE worker.id = ?
AND worker.ended IS NULL
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NULL));

-- LeasedTasks.lease
SELECT attempt.id, attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = ?
AND attempt.ended IS NULL;

-- LeasedTasks.lease, LeasedTasks.release, LeasedTasks.fail, LeasedTasks.die, Campaign.deliver, Campaign.judge,
-- Ledger.take
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index, worker_id;

-- LeasedTasks.renew, LeasedTasks.release, LeasedTasks.fail, LeasedTasks.die
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.worker_id
FROM attempt
WHERE (attempt.id IN (SELECT value
FROM json_each(?)));

-- LeasedTasks.renew
UPDATE attempt
SET deadline=(((julianday('now') - 2440587.5) * 86400.0) + ?), seconds=?
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL;

-- LeasedTasks.renew
SELECT attempt.id
FROM attempt
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL;

-- LeasedTasks.renew
UPDATE attempt
SET steps=?
WHERE attempt.id = ?;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    task.campaign_id, task.task_index, ? AS anon_1, ? AS anon_2, ((julianday('now') - 2440587.5) * 86400.0) AS
    anon_3, ((julianday('now') - 2440587.5) * 86400.0) + ? AS anon_4, ? AS anon_5, 0 AS anon_6
FROM task
WHERE task.campaign_id = ?
AND task.state = ?
AND task.deaths > ?
AND task.deaths < ?
ORDER BY task.work DESC
LIMIT ? OFFSET ?
RETURNING task_index, id;

-- LeasedTasks.lease
SELECT task.task_index, task.deaths
FROM task
WHERE task.campaign_id = ?
AND task.state = ?
AND task.deaths >= ?;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    task.campaign_id, task.task_index, ? AS anon_1, ? AS anon_2, ((julianday('now') - 2440587.5) * 86400.0) AS
    anon_3, ((julianday('now') - 2440587.5) * 86400.0) + ? AS anon_4, ? AS anon_5, 1 AS anon_6
FROM task
JOIN attempt ON attempt.campaign_id = task.campaign_id
AND attempt.task_index = task.task_index
WHERE attempt.campaign_id = ?
AND attempt.ended IS NULL
AND attempt.copied = 0
AND attempt.granted < ((julianday('now') - 2440587.5) * 86400.0) - ?
AND attempt.worker_id != ?
AND task.state = ?
ORDER BY attempt.granted
LIMIT ? OFFSET ?
RETURNING task_index, id;

-- LeasedTasks.lease
UPDATE attempt
SET copied=?
WHERE attempt.campaign_id = ?
AND (attempt.task_index IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL;

-- LeasedTasks.lease
SELECT task.task_index, task.work
FROM task
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)));

-- LeasedTasks.take_back
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.campaign_id = ?
AND attempt.worker_id = ?
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index, worker_id;

-- LeasedTasks.take_back, Campaign.cancel
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.campaign_id = ?
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index, worker_id;

-- LeasedTasks.lease_holders
SELECT worker.id, worker.host, worker.process
FROM worker
WHERE worker.id IN (SELECT DISTINCT attempt.worker_id
FROM attempt
WHERE attempt.campaign_id = ?
AND attempt.ended IS NULL);

-- LeasedTasks.is_worked_at
SELECT attempt.id
FROM attempt
WHERE attempt.campaign_id = ?
AND attempt.ended IS NULL
AND attempt.deadline >= ((julianday('now') - 2440587.5) * 86400.0)
LIMIT ? OFFSET ?;

-- LeasedTasks.release_worker
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.worker_id = ?
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index, worker_id;

-- LeasedTasks.fail, Campaign.deliver
UPDATE task
SET failures=(task.failures + ?)
WHERE task.campaign_id = ?
AND task.task_index = ?;

-- LeasedTasks.fail, Campaign.deliver
SELECT task.failures, task.state
FROM task
WHERE task.campaign_id = ?
AND task.task_index = ?;

-- LeasedTasks.reopen
UPDATE task
SET state=?, failures=?, deaths=?
WHERE task.campaign_id = ?
AND task.state = ?;

-- LeasedTasks.die
UPDATE task
SET deaths=(task.deaths + ?)
WHERE task.campaign_id = ?
AND task.task_index = ?;

-- LeasedTasks.die
SELECT task.state, task.deaths
FROM task
WHERE task.campaign_id = ?
AND task.task_index = ?;

-- LeasedTasks.die
SELECT worker.host, max(attempt.id) AS last
FROM worker
JOIN attempt ON attempt.worker_id = worker.id
WHERE attempt.campaign_id = ?
AND attempt.task_index = ?
AND attempt.outcome = ?
GROUP BY worker.host;

-- LeasedTasks.die
SELECT attempt.note
FROM attempt
WHERE attempt.id = ?;

-- LeasedTasks.pace
SELECT attempt.campaign_id, worker.device_kind, result.seconds, task.work
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
JOIN result ON result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
JOIN task ON task.campaign_id = attempt.campaign_id
AND task.task_index = attempt.task_index
WHERE attempt.id > (SELECT max(attempt.id) AS max_1
FROM attempt) - ?
AND attempt.outcome = ?
AND task.work > ?
AND result.seconds <= ?;

-- Campaign.set_recheck_share
UPDATE campaign
SET recheck_share=?
WHERE campaign.id = ?;

-- Campaign.set_recheck_share
UPDATE result
SET listed=?
WHERE result.campaign_id = ?
AND result.listed = 0;

-- LeasedTasks.lease
SELECT voter.id
FROM voter
WHERE (voter.kind != ? OR voter.host != ?
AND (? = ? OR voter.token != ?))
AND (SELECT min(result.lot) AS min_1
FROM result
WHERE result.campaign_id = ?
AND result.voter_id = voter.id
AND result.listed = 1
AND result.confirmed_by IS NULL) < ?
ORDER BY voter.device_kind = ?
AND voter.kernels = ?, voter.device_kind = ?, voter.id;

-- Campaign.deliver, Campaign.judge, Ledger.take
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.granted, worker.voter_id,
    (SELECT campaign.recheck_share
FROM campaign
WHERE campaign.id = ?) AS share, result.value, result.attempt_id AS "by"
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
LEFT OUTER JOIN result ON result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
WHERE (attempt.id IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver, Campaign.judge, Ledger.take
SELECT voter.id, voter.kind, voter.valid
FROM voter
WHERE (voter.id IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver
INSERT INTO result (task_index, attempt_id, value, residue, evaluated, seconds, provenance, lot, voter_id,
    campaign_id, accepted, listed) SELECT json_extract(anon_1.value, ?) AS json_extract_1,
    json_extract(anon_1.value, ?) AS json_extract_3, json_extract(anon_1.value, ?) AS json_extract_5,
    json_extract(anon_1.value, ?) AS json_extract_7, json_extract(anon_1.value, ?) AS json_extract_9,
    json_extract(anon_1.value, ?) AS json_extract_11, json_extract(anon_1.value, ?) AS json_extract_13,
    json_extract(anon_1.value, ?) AS json_extract_15, json_extract(anon_1.value, ?) AS json_extract_17, ? AS
    anon_2, ((julianday('now') - 2440587.5) * 86400.0) AS anon_3, (SELECT campaign.recheck_share > ? AS anon_5
FROM campaign
WHERE campaign.id = ?) AS anon_4
FROM json_each(?) AS anon_1
WHERE 1 = 1
ON CONFLICT DO NOTHING
RETURNING task_index;

-- Campaign.deliver
UPDATE attempt
SET began=CASE WHEN (told.json_extract_1 > ((julianday('now') - 2440587.5) * 86400.0)) THEN ((julianday('now') -
    2440587.5) * 86400.0) ELSE told.json_extract_1 END, ended=((julianday('now') - 2440587.5) * 86400.0),
    outcome=?
FROM (SELECT json_extract(anon_1.value, ?) AS json_extract_2, json_extract(anon_1.value, ?) AS json_extract_1
FROM json_each(?) AS anon_1
WHERE 1 = 1) AS told
WHERE attempt.id = told.json_extract_2
AND attempt.ended IS NULL;

-- Campaign.deliver
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)));

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.voter_id = ?
AND result.listed = 1
AND result.confirmed_by IS NULL
AND result.lot < ?
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = ?
AND (voter_1.host = ? OR ? != ?
AND voter_1.token = ?) OR attempt.outcome IN (?, ?)
AND attempt.worker_id = ?)))
ORDER BY result.lot
LIMIT ? OFFSET ?;

-- LeasedTasks.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, seconds, copied) SELECT
    result.campaign_id, result.task_index, ? AS anon_1, ? AS anon_2, ((julianday('now') - 2440587.5) * 86400.0)
    AS anon_3, ((julianday('now') - 2440587.5) * 86400.0) + ? AS anon_4, ? AS anon_5, 0 AS anon_6
FROM result
WHERE result.campaign_id = ?
AND (result.task_index IN (SELECT value
FROM json_each(?)))
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND attempt.ended IS NULL))
RETURNING task_index, id;

-- Campaign.deliver, Campaign.judge, Ledger.take
SELECT witness.attempt_id, witness.value
FROM witness
WHERE (witness.attempt_id IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver, Campaign.judge, Ledger.take
UPDATE attempt
SET began=CASE WHEN (told.json_extract_1 > ((julianday('now') - 2440587.5) * 86400.0)) THEN ((julianday('now') -
    2440587.5) * 86400.0) ELSE told.json_extract_1 END
FROM (SELECT json_extract(anon_1.value, ?) AS json_extract_2, json_extract(anon_1.value, ?) AS json_extract_1
FROM json_each(?) AS anon_1
WHERE 1 = 1) AS told
WHERE attempt.id = told.json_extract_2;

-- Campaign.deliver, Campaign.judge, Ledger.take
INSERT INTO witness (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted, lot)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?);

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
SELECT result.task_index, result.attempt_id, result.value, result.lot, worker.voter_id, voter.kind, voter.host,
    voter.token, voter.distrusted, attempt.questioned, nullif(?, ?) AS witness_id, result.confirmed_by,
    result.doubt
FROM result
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
JOIN voter ON voter.id = worker.voter_id
WHERE result.campaign_id = ?
AND (result.task_index IN (SELECT value
FROM json_each(?)))
ORDER BY result.task_index, result.attempt_id;

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
SELECT witness.task_index, witness.attempt_id, witness.value, witness.lot, worker.voter_id, voter.kind,
    voter.host, voter.token, voter.distrusted, attempt.questioned, witness.id AS witness_id
FROM witness
JOIN attempt ON attempt.id = witness.attempt_id
JOIN worker ON worker.id = attempt.worker_id
JOIN voter ON voter.id = worker.voter_id
WHERE witness.campaign_id = ?
AND (witness.task_index IN (SELECT value
FROM json_each(?)))
ORDER BY witness.task_index, witness.attempt_id;

-- Campaign.deliver, Campaign.question, Campaign.judge, Ledger.take
UPDATE result
SET voter_id=?, confirmed_by=?, doubt=?, lot=?
WHERE result.campaign_id = ?
AND result.task_index = ?;

-- Campaign.deliver
UPDATE voter
SET valid=(voter.valid + ?)
WHERE voter.id = ?;

-- Campaign.results, Campaign.rechecked_tasks, Campaign.judge, Campaign.progress, Campaign.overview,
-- Campaign.history, Campaign.trusted_export, Campaign.delete
SELECT result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL
AND result.doubt IN (?, ?);

-- Campaign.results
SELECT event.detail
FROM event
WHERE event.campaign_id = ?
AND event.task_index = ?
AND event.kind = ?
ORDER BY event.id DESC
LIMIT ? OFFSET ?;

-- Campaign.results, Campaign.overview, Campaign.trusted_export, Campaign.delete
SELECT result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL
AND result.doubt IN (?);

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL
AND result.doubt IN (?, ?)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = ?
AND (voter_1.host = ? OR ? != ?
AND voter_1.token = ?) OR attempt.outcome IN (?, ?)
AND attempt.worker_id = ?)))
LIMIT ? OFFSET ?;

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = ?
AND (voter_1.host = ? OR ? != ?
AND voter_1.token = ?) OR attempt.outcome IN (?, ?)
AND attempt.worker_id = ?)))
LIMIT ? OFFSET ?;

-- LeasedTasks.lease
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < ?
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
JOIN worker AS worker_1 ON worker_1.id = attempt.worker_id
JOIN voter AS voter_1 ON voter_1.id = worker_1.voter_id
WHERE attempt.campaign_id = result.campaign_id
AND attempt.task_index = result.task_index
AND (attempt.ended IS NULL OR (attempt.id = result.attempt_id OR (EXISTS (SELECT witness.id
FROM witness
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.attempt_id = attempt.id)))
AND attempt.questioned IS NULL
AND voter_1.kind = ?
AND (voter_1.host = ? OR ? != ?
AND voter_1.token = ?) OR attempt.outcome IN (?, ?)
AND attempt.worker_id = ?)))
LIMIT ? OFFSET ?;

-- Campaign.deliver, Campaign.judge
SELECT result.attempt_id, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    result.accepted, result.lot
FROM result
WHERE result.campaign_id = ?
AND result.task_index = ?;

-- Campaign.deliver, Campaign.judge
SELECT witness.attempt_id, witness.value, witness.residue, witness.evaluated, witness.seconds,
    witness.provenance, witness.accepted, witness.lot
FROM witness
WHERE witness.id = ?;

-- Campaign.deliver, Campaign.judge
UPDATE result
SET attempt_id=?, value=?, residue=?, evaluated=?, seconds=?, provenance=?, accepted=?, lot=?
WHERE result.campaign_id = ?
AND result.task_index = ?;

-- Campaign.deliver, Campaign.judge
UPDATE witness
SET attempt_id=?, value=?, residue=?, evaluated=?, seconds=?, provenance=?, accepted=?, lot=?
WHERE witness.id = ?;

-- Campaign.deliver
UPDATE voter
SET distrusted=((julianday('now') - 2440587.5) * 86400.0)
WHERE voter.id = ?
AND voter.distrusted IS NULL
RETURNING host, token;

-- Campaign.deliver
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.worker_id IN (SELECT worker.id
FROM worker
WHERE worker.voter_id = ?)
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index, worker_id;

-- Campaign.deliver
SELECT DISTINCT witness.campaign_id, witness.task_index
FROM witness
JOIN attempt ON attempt.campaign_id = witness.campaign_id
AND attempt.task_index = witness.task_index
JOIN worker ON worker.id = attempt.worker_id
WHERE worker.voter_id = ?;

-- Campaign.results, Campaign.overview, Campaign.trusted_export, Campaign.delete
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL);

-- Campaign.results, Campaign.rechecked_tasks, Campaign.judge, Campaign.replication, Campaign.progress,
-- Campaign.standing, Campaign.overview
SELECT campaign.recheck_share AS share, EXISTS (SELECT result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL) AS doubts, EXISTS (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) AS distrust
FROM campaign
WHERE campaign.id = ?;

-- Campaign.results, Campaign.replication, Campaign.progress, Campaign.overview
SELECT count(*) AS count_1
FROM result
WHERE result.campaign_id = ?
AND result.listed = 1
AND result.lot < ?;

-- Campaign.results, Campaign.replication, Campaign.progress, Campaign.overview
SELECT count(*) AS count_1
FROM (SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id = ?
AND result.voter_id IN (SELECT voter.id
FROM voter)
AND result.listed = 1
AND result.confirmed_by IS NULL
AND result.lot < ? UNION SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < ?) AS anon_1;

-- Campaign.results, Campaign.overview
SELECT result.task_index, result.value, result.residue, result.evaluated
FROM result
WHERE result.campaign_id = ?
ORDER BY result.task_index;

-- Campaign.question
UPDATE attempt
SET questioned=((julianday('now') - 2440587.5) * 86400.0)
WHERE attempt.campaign_id = ?
AND (attempt.id IN (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = ?) OR attempt.id IN (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = ?))
AND attempt.questioned IS NULL
AND (attempt.task_index IN (SELECT value
FROM json_each(?)))
RETURNING task_index;

-- Campaign.question
UPDATE attempt
SET questioned=((julianday('now') - 2440587.5) * 86400.0)
WHERE attempt.campaign_id = ?
AND (attempt.id IN (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = ?) OR attempt.id IN (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = ?))
AND attempt.questioned IS NULL
AND attempt.worker_id IN (SELECT worker.id
FROM worker
WHERE worker.id = ? OR worker.host = ?)
AND (attempt.worker_id IN (SELECT worker.id
FROM worker
WHERE worker.kernels = ?) OR attempt.id IN (SELECT result.attempt_id
FROM result
WHERE result.campaign_id = ?
AND (result.provenance LIKE '%' || ? || '%' ESCAPE '/')) OR attempt.id IN (SELECT witness.attempt_id
FROM witness
WHERE witness.campaign_id = ?
AND (witness.provenance LIKE '%' || ? || '%' ESCAPE '/')))
RETURNING task_index;

-- Campaign.rechecked_tasks, Campaign.judge
SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.voter_id IN (SELECT voter.id
FROM voter)
AND result.listed = 1
AND result.confirmed_by IS NULL
AND result.lot < ? UNION SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL
AND result.doubt IN (?, ?) UNION SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) UNION SELECT result.campaign_id, result.task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < ?;

-- Campaign.judge, Ledger.take
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, copied, note)
VALUES (?, ?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ((julianday('now') - 2440587.5) * 86400.0), ?,
    ?)
RETURNING id;

-- Campaign.export, Ledger.take, Campaign.trusted_export, Campaign.delete
SELECT result.task_index, result.value, result.residue, result.evaluated, result.seconds, result.provenance
FROM result
WHERE result.campaign_id = ?
ORDER BY result.task_index;

-- Campaign.export, Campaign.trusted_export, Campaign.delete
SELECT result.task_index, attempt.granted, attempt.began, attempt.ended, worker.id, worker.host,
    worker.device_kind, worker.cores, worker.processes, worker.device_model, worker.slurm_job,
    worker.slurm_index
FROM result
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
JOIN voter ON voter.id = worker.voter_id
WHERE result.campaign_id = ?
AND (voter.kind = ? OR worker.process = ?)
ORDER BY result.task_index;

-- Ledger.take
SELECT attempt.task_index, attempt.note
FROM attempt
WHERE attempt.campaign_id = ?
AND (attempt.note LIKE ? || '%');

-- Campaign.new_token
INSERT INTO token (campaign_id, role, digest, created, expires, label)
VALUES (?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), (((julianday('now') - 2440587.5) * 86400.0) + ?),
    ?);

-- Campaign.tokens
SELECT token.id, token.role, token.label, token.created, token.expires
FROM token
WHERE token.campaign_id = ?
ORDER BY token.id;

-- Campaign.revoke_token
DELETE
FROM token
WHERE token.campaign_id = ?
AND token.id = ?;

-- Campaign.role_of, Ledger.rights
SELECT campaign.uuid, token.role, token.digest
FROM token
JOIN campaign ON campaign.id = token.campaign_id
WHERE (token.digest IN (SELECT value
FROM json_each(?)))
AND (token.expires IS NULL OR token.expires > ((julianday('now') - 2440587.5) * 86400.0));

-- Ledger.enrol
SELECT count(*) AS count_1
FROM voter
JOIN worker ON worker.voter_id = voter.id
WHERE voter.token = ?
AND voter.kind = ?
AND ((julianday('now') - 2440587.5) * 86400.0) - ? <= coalesce(worker.last_seen, worker.started)
AND (worker.ended IS NULL OR NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id)));

-- Ledger.enrol
SELECT worker.id
FROM voter
JOIN worker ON worker.voter_id = voter.id
WHERE voter.token = ?
AND voter.kind = ?
AND ((julianday('now') - 2440587.5) * 86400.0) - ? > coalesce(worker.last_seen, worker.started)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id))
LIMIT ? OFFSET ?;

-- Ledger.enrol
SELECT worker.id, worker.voter_id
FROM worker
WHERE (worker.id IN (SELECT value
FROM json_each(?)))
ORDER BY worker.id;

-- Ledger.enrol
DELETE
FROM worker
WHERE (worker.id IN (SELECT value
FROM json_each(?)))
AND ((julianday('now') - 2440587.5) * 86400.0) - ? > coalesce(worker.last_seen, worker.started)
AND NOT (EXISTS (SELECT attempt.id
FROM attempt
WHERE attempt.worker_id = worker.id));

-- Ledger.enrol
SELECT voter.id
FROM voter
WHERE (voter.id IN (SELECT value
FROM json_each(?)))
ORDER BY voter.id;

-- Ledger.enrol
DELETE
FROM voter
WHERE (voter.id IN (SELECT value
FROM json_each(?)))
AND voter.kind = ?
AND voter.distrusted IS NULL
AND voter.valid = ?
AND NOT (EXISTS (SELECT worker.id
FROM worker
WHERE worker.voter_id = voter.id))
AND NOT (EXISTS (SELECT result.voter_id
FROM result
WHERE result.voter_id = voter.id))
AND NOT (EXISTS (SELECT result.confirmed_by
FROM result
WHERE result.confirmed_by = voter.id));

-- Campaign.revoke_tokens, Campaign.delete
DELETE
FROM token
WHERE token.campaign_id = ?;

-- EventReader, EventReader.new, LatestEvents.by_kind
SELECT max(event.id) AS max_1
FROM event;

-- EventReader.new
SELECT event.id, event.at, event.kind, event.task_index, event.attempt_id, event.detail
FROM event
WHERE event.id > ?
AND event.campaign_id = ?
AND event.kind IN (?)
ORDER BY event.id;

-- LatestEvents.by_kind
SELECT event.kind, max(event.id) AS max_1
FROM event
WHERE event.id > ?
AND event.campaign_id = ?
AND event.kind IN (?)
GROUP BY event.kind;

-- db.notices.claim, Campaign.history
SELECT ((julianday('now') - 2440587.5) * 86400.0) AS anon_1;

-- db.notices.claim
SELECT notice.id, notice.about, notice.tries, notice.next_try, notice.told
FROM notice
WHERE notice.campaign_id = ?
AND notice.channel = ?
AND notice.kind = ?
ORDER BY notice.id;

-- db.notices.claim
INSERT INTO notice (campaign_id, channel, kind, about, tries, next_try)
VALUES (?, ?, ?, ?, ?, (((julianday('now') - 2440587.5) * 86400.0) + ?))
RETURNING id;

-- db.notices.not_told
UPDATE notice
SET next_try=(((julianday('now') - 2440587.5) * 86400.0) + ?)
WHERE notice.id = ?;

-- db.notices.claim
UPDATE notice
SET about=?, tries=?, next_try=(((julianday('now') - 2440587.5) * 86400.0) + ?)
WHERE notice.id = ?;

-- db.notices.told
UPDATE notice
SET told=((julianday('now') - 2440587.5) * 86400.0)
WHERE notice.id = ?;

-- db.events.between
SELECT event.id, event.at, event.kind, event.task_index, event.attempt_id, event.detail
FROM event
WHERE event.id > ?
AND event.campaign_id = ?
AND event.id <= ?
AND event.kind = ?
ORDER BY event.id;

-- Campaign.progress, Campaign.standing, Campaign.overview
SELECT task.state, count(*) AS count_1, sum(task.work) AS sum_1
FROM task
WHERE task.campaign_id = ?
AND task.state IN (?, ?, ?)
GROUP BY task.state;

-- Campaign.progress, Campaign.standing, Campaign.overview
SELECT count(*) AS count_1
FROM (SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id = ?
AND result.voter_id IN (SELECT voter.id
FROM voter)
AND result.listed = 1
AND result.confirmed_by IS NULL
AND result.lot < ? UNION SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id = ?
AND result.doubt IS NOT NULL
AND result.doubt IN (?, ?) UNION SELECT result.campaign_id AS campaign_id, result.task_index AS task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.voter_id IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL) UNION SELECT result.campaign_id AS campaign_id, result.task_index AS
    task_index
FROM result
WHERE result.campaign_id + ? = ?
AND result.confirmed_by IS NOT NULL
AND result.confirmed_by IN (SELECT voter.id
FROM voter
WHERE voter.distrusted IS NOT NULL)
AND result.lot < ?) AS anon_1;

-- Campaign.progress
SELECT coalesce(attempt.outcome, ?) AS coalesce_1, count(*) AS count_1
FROM attempt
WHERE attempt.campaign_id = ?
GROUP BY attempt.outcome;

-- Campaign.progress
SELECT count(*) AS count_1
FROM event
WHERE event.campaign_id = ?
AND event.kind = ?;

-- Campaign.progress
SELECT result.seconds, result.evaluated
FROM result
WHERE result.campaign_id = ?;

-- Campaign.overview
SELECT campaign.name, ((julianday('now') - 2440587.5) * 86400.0) AS now
FROM campaign
WHERE campaign.id = ?;

-- Campaign.overview
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.kind, voter.distrusted, (SELECT count(*) AS
    count_1
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NOT NULL) AS attempts, (SELECT max(attempt.ended) AS max_1
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NOT NULL) AS last_ended
FROM worker
LEFT OUTER JOIN voter ON voter.id = worker.voter_id
WHERE (SELECT attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = worker.id
ORDER BY attempt.ended
LIMIT ? OFFSET ?) = ? OR (SELECT attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = worker.id
ORDER BY attempt.ended DESC
LIMIT ? OFFSET ?) = ?;

-- Campaign.overview
SELECT attempt.campaign_id, attempt.task_index, attempt.worker_id, task.work, task.state, attempt.granted,
    attempt.steps, attempt.seconds
FROM attempt
JOIN task ON task.campaign_id = attempt.campaign_id
AND task.task_index = attempt.task_index
WHERE attempt.ended IS NULL
AND attempt.deadline > ?;

-- Campaign.overview
SELECT attempt.worker_id, attempt.outcome, count(*) AS attempts, sum(attempt.ended - coalesce(attempt.began,
    attempt.granted)) AS seconds
FROM attempt
WHERE attempt.ended IS NOT NULL
AND attempt.outcome != ?
GROUP BY attempt.worker_id, attempt.outcome;

-- Campaign.overview
SELECT worker.id, (SELECT CASE WHEN (count(*) >= ?) THEN sum(task.work) / (sum(result.seconds) + 0.0) END AS
    anon_1
FROM (SELECT attempt.campaign_id AS campaign_id, attempt.task_index AS task_index, attempt.id AS id
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NOT NULL
ORDER BY attempt.ended DESC
LIMIT ? OFFSET ?) AS anon_2
JOIN task ON task.campaign_id = anon_2.campaign_id
AND task.task_index = anon_2.task_index
JOIN result ON result.campaign_id = anon_2.campaign_id
AND result.task_index = anon_2.task_index
WHERE anon_2.campaign_id = ?
AND result.attempt_id = anon_2.id
AND result.seconds BETWEEN ?
AND ?) AS pace
FROM worker
WHERE worker.last_seen > ?
ORDER BY worker.last_seen DESC
LIMIT ? OFFSET ?;

-- Campaign.overview
SELECT count(event.id) AS count_1
FROM event
WHERE event.campaign_id = ?
AND event.kind = ?;

-- Campaign.overview
WITH RECURSIVE steps(step) AS (SELECT ? AS step UNION ALL SELECT steps.step + ? AS anon_1
FROM steps
WHERE steps.step < ?), points AS (SELECT steps.step AS step, ? + ? * steps.step AS at
FROM steps) SELECT points.step, count(*) AS count_1
FROM points
JOIN (SELECT worker.id AS id, worker.started AS started, worker.ended AS ended, (SELECT min(attempt.granted) AS
    min_1
FROM attempt
WHERE attempt.worker_id = worker.id
AND attempt.ended IS NULL) AS holds_since
FROM worker
WHERE (worker.id IN (SELECT value
FROM json_each(?)))
ORDER BY worker.started
LIMIT ? OFFSET ?) AS anon_2 ON anon_2.started <= points.at
AND (anon_2.ended IS NULL OR anon_2.ended >= points.at)
WHERE anon_2.holds_since <= points.at OR (EXISTS (SELECT anon_3.granted
FROM (SELECT attempt.granted AS granted
FROM attempt
WHERE attempt.worker_id = anon_2.id
AND attempt.ended > points.at
ORDER BY attempt.ended
LIMIT ? OFFSET ?) AS anon_3
WHERE anon_3.granted <= points.at))
GROUP BY points.step;

-- Campaign.overview
SELECT event.at, event.kind, event.task_index, event.detail
FROM event
WHERE event.campaign_id = ?
ORDER BY event.id DESC
LIMIT ? OFFSET ?;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = ?
ORDER BY task.task_index;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = ?
AND task.state = ?
ORDER BY task.task_index;

-- Campaign.history
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index, voter.kind AS voter_kind, voter.distrusted
FROM worker
LEFT OUTER JOIN voter ON voter.id = worker.voter_id
WHERE worker.id IN (SELECT DISTINCT attempt.worker_id
FROM attempt
WHERE attempt.campaign_id = ?)
ORDER BY worker.started, worker.id;

-- Campaign.history
SELECT result.task_index, result.attempt_id, result.seconds, result.accepted, result.provenance,
    result.confirmed_by IS NOT NULL AS anon_1
FROM result
WHERE result.campaign_id = ?
ORDER BY result.task_index;

-- Campaign.history
SELECT witness.attempt_id, witness.seconds
FROM witness
WHERE witness.campaign_id = ?;

-- Campaign.history
SELECT attempt.id, attempt.task_index, attempt.worker_id, attempt.granted, attempt.began, attempt.ended,
    attempt.outcome, attempt.steps IS NOT NULL AS anon_1
FROM attempt
WHERE attempt.campaign_id = ?
ORDER BY attempt.id;

-- Campaign.history
SELECT event.kind, count(*) AS count_1
FROM event
WHERE event.campaign_id = ?
GROUP BY event.kind;

-- Campaign.history
SELECT event.at, event.kind, event.task_index, event.detail
FROM event
WHERE event.campaign_id = ?
AND event.kind != ?
ORDER BY event.id
LIMIT ? OFFSET ?;

-- Ledger.leave
UPDATE worker
SET last_seen=((julianday('now') - 2440587.5) * 86400.0), ended=((julianday('now') - 2440587.5) * 86400.0),
    ending=?
WHERE worker.id = ?;

-- Campaign.cancel
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND task.state = ?;

-- Campaign.rename
SELECT campaign.id
FROM campaign
WHERE campaign.name = ?;

-- Campaign.rename
UPDATE campaign
SET name=?
WHERE campaign.id = ?;

-- Campaign.delete
SELECT count(*) AS count_1
FROM attempt
WHERE attempt.campaign_id = ?
AND attempt.ended IS NULL;

-- Campaign.delete
CREATE INDEX leaving_result ON result (attempt_id);

-- Campaign.delete
CREATE INDEX leaving_witness ON witness (attempt_id);

-- Campaign.delete
DELETE
FROM witness
WHERE witness.campaign_id = ?;

-- Campaign.delete
DELETE
FROM result
WHERE result.campaign_id = ?;

-- Campaign.delete
DELETE
FROM attempt
WHERE attempt.campaign_id = ?;

-- Campaign.delete
DELETE
FROM task
WHERE task.campaign_id = ?;

-- Campaign.delete
DELETE
FROM event
WHERE event.campaign_id = ?;

-- Campaign.delete
DELETE
FROM notice
WHERE notice.campaign_id = ?;

-- Campaign.delete
DROP INDEX leaving_result;

-- Campaign.delete
DROP INDEX leaving_witness;

-- Campaign.delete
DELETE
FROM campaign
WHERE campaign.id = ?;

-- db.copying.copy
SELECT count(*) AS count_1
FROM attempt
WHERE attempt.ended IS NULL;

-- db.copying.copy
SELECT count(*) AS count_1
FROM campaign;

-- db.copying.copy
DELETE
FROM ledger;

-- db.copying.copy
INSERT INTO campaign (id, uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share, secret)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT ledger.uuid, ledger.created
FROM ledger
ORDER BY ledger.uuid;

-- db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (?, ?);

-- db.copying.copy
SELECT voter.id, voter.kind, voter.host, voter.token, voter.device_kind, voter.kernels, voter.valid,
    voter.distrusted
FROM voter
ORDER BY voter.id;

-- db.copying.copy
INSERT INTO voter (id, kind, host, token, device_kind, kernels, valid, distrusted)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.voter_id, worker.last_seen, worker.ended, worker.ending, worker.cores, worker.processes,
    worker.device_model, worker.slurm_job, worker.slurm_index
FROM worker
ORDER BY worker.id;

-- db.copying.copy
INSERT INTO worker (id, host, process, started, device_kind, kernels, voter_id, last_seen, ended, ending, cores,
    processes, device_model, slurm_job, slurm_index)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT event.id, event.campaign_id, event.task_index, event.attempt_id, event.at, event.kind, event.detail
FROM event
ORDER BY event.id;

-- db.copying.copy
INSERT INTO event (id, campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT notice.id, notice.campaign_id, notice.channel, notice.kind, notice.about, notice.tries, notice.next_try,
    notice.told
FROM notice
ORDER BY notice.id;

-- db.copying.copy
INSERT INTO notice (id, campaign_id, channel, kind, about, tries, next_try, told)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT task.campaign_id, task.task_index, task.work, task.state, task.failures, task.deaths
FROM task
ORDER BY task.campaign_id, task.task_index;

-- db.copying.copy
INSERT INTO task (campaign_id, task_index, work, state, failures, deaths)
VALUES (?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT token.id, token.campaign_id, token.role, token.digest, token.created, token.expires, token.label
FROM token
ORDER BY token.id;

-- db.copying.copy
INSERT INTO token (id, campaign_id, role, digest, created, expires, label)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id, attempt.nonce, attempt.granted,
    attempt.began, attempt.deadline, attempt.seconds, attempt.copied, attempt.steps, attempt.ended,
    attempt.outcome, attempt.note, attempt.questioned
FROM attempt
ORDER BY attempt.id;

-- db.copying.copy
INSERT INTO attempt (id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, copied,
    steps, ended, outcome, note, questioned)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT result.campaign_id, result.task_index, result.attempt_id, result.voter_id, result.confirmed_by,
    result.doubt, result.listed, result.value, result.residue, result.evaluated, result.seconds,
    result.provenance, result.accepted, result.lot
FROM result
ORDER BY result.campaign_id, result.task_index;

-- db.copying.copy
INSERT INTO result (campaign_id, task_index, attempt_id, voter_id, confirmed_by, doubt, listed, value, residue,
    evaluated, seconds, provenance, accepted, lot)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted, witness.lot
FROM witness
ORDER BY witness.id;

-- db.copying.copy
INSERT INTO witness (id, campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted, lot)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- Database
DROP VIEW IF EXISTS task_overview;

-- Database
DROP VIEW IF EXISTS worker_overview;

-- Database
DROP VIEW IF EXISTS throughput;

-- Database
DROP VIEW IF EXISTS lost_time;

-- Database
DROP VIEW IF EXISTS disagreements;
