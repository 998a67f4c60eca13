/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The checks. In each, several processes carry out a few verbs. */
#include "checks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <abi/functions.h>

#define NO_SUCH_QP 0x00fffffe

__attribute__((format(printf, 2, 3))) static bool fail(struct job *job, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(job->detail, sizeof(job->detail), format, args);
	va_end(args);
	return false;
}

static bool ask(struct job *job, enum who who, struct request request, int wanted,
		struct answer *answer)
{
	struct answer ignored;

	if (!answer)
		answer = &ignored;
	*answer = actor_ask(&job->actors[who], &request);
	if (answer->err == wanted)
		return true;
	return fail(job, "%s: %s: %s; wanted: %s", job->actors[who].name,
		    answer->err ? answer->text : "a call that should fail",
		    actor_error_text(answer->err), actor_error_text(wanted));
}

#define ASK(who, wanted, answer, ...) ask(job, who, (struct request){ __VA_ARGS__ }, wanted, answer)

static bool open_device(struct job *job, enum who who)
{
	struct request request = { .op = OP_OPEN_DEVICE,
				   .flags = who == TWO_WAY || who == TWO_WAY_PEER };
	struct answer answer;

	/* The command that listens on the other host has chosen its device. */
	if (job->actors[who].pid)
		snprintf(request.text, sizeof(request.text), "%s", job->device);
	if (!ask(job, who, request, 0, &answer)) {
		job->no_device = answer.err == ENODEV;
		return job->no_device
			       ? fail(job, "%s: no device%s%s with XRC", job->actors[who].name,
				      request.text[0] ? " " : "", request.text)
			       : false;
	}
	job->address[who] = answer.self;
	if (who == CREATOR)
		snprintf(job->found_device, sizeof(job->found_device), "%s", answer.text);
	return true;
}

static bool open_domain(struct job *job, enum who who, const char *path, int flags, int wanted)
{
	struct request request = { .op = OP_OPEN_DOMAIN, .flags = flags };

	snprintf(request.text, sizeof(request.text), "%s", path);
	return ask(job, who, request, wanted, NULL);
}

static bool check_symbols(struct job *job)
{
	static const char *const names[] = {
#define X(function) #function,
		ABI_LEGACY_FUNCTIONS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!dlvsym(RTLD_DEFAULT, names[i], "IBVERBS_1.1"))
			return fail(job, "%s is not there: is libxrc-compat preloaded?", names[i]);
	}
	return true;
}

static bool check_devices(struct job *job)
{
	for (enum who who = 0; who < ACTORS; who++) {
		if (!open_device(job, who))
			return false;
	}
	return true;
}

static bool check_open(struct job *job)
{
	return open_domain(job, CREATOR, job->domain_path, 0, EAGAIN) &&
	       open_domain(job, CREATOR, "-", O_CREAT, EBADF) &&
	       open_domain(job, CREATOR, job->domain_path, O_CREAT, 0) &&
	       open_domain(job, SURVIVOR, job->domain_path, O_CREAT | O_EXCL, EINVAL) &&
	       open_domain(job, SURVIVOR, job->domain_path, O_CREAT, 0) &&
	       open_domain(job, VICTIM, job->domain_path, 0, 0) &&
	       open_domain(job, SENDER, "", O_CREAT, 0);
}

static bool create_srq(struct job *job, enum who who)
{
	struct answer answer;

	if (!ASK(who, 0, &answer, .op = OP_CREATE_SRQ))
		return false;
	job->srq_num[who] = answer.srq_num;
	return answer.srq_num ? true
			      : fail(job, "%s: the number of the SRQ is 0", job->actors[who].name);
}

static bool check_srqs(struct job *job)
{
	if (!create_srq(job, CREATOR) || !create_srq(job, SURVIVOR) || !create_srq(job, VICTIM))
		return false;
	if (job->srq_num[CREATOR] == job->srq_num[SURVIVOR] ||
	    job->srq_num[SURVIVOR] == job->srq_num[VICTIM])
		return fail(job, "two SRQs have the number 0x%x", job->srq_num[SURVIVOR]);
	return true;
}

/* No other fault gives ENOSYS. */
#define NOT_SHARED \
	"this kernel does not share receive QPs between processes of this device's driver; Linux 5.11 and later do"

static bool check_rcv_qp(struct job *job)
{
	struct answer made, sender, refused;
	struct request modify = { .op = OP_MODIFY_RCV_QP };

	if (!ASK(CREATOR, 0, &made, .op = OP_CREATE_RCV_QP) ||
	    !ASK(SENDER, 0, &sender, .op = OP_CREATE_XRC_QP))
		return false;
	job->rcv_qp_num = made.qp_num;
	job->address[CREATOR].qp_num = made.qp_num;
	job->address[SENDER].qp_num = sender.qp_num;
	modify.peer = job->address[SENDER];
	modify.qp_num = NO_SUCH_QP;
	if (!ask(job, SURVIVOR, modify, EINVAL, &refused))
		return refused.err == ENOSYS ? fail(job, NOT_SHARED) : false;
	modify.qp_num = made.qp_num;
	return ask(job, SURVIVOR, modify, 0, NULL) &&
	       ASK(SENDER, 0, NULL, .op = OP_CONNECT, .peer = job->address[CREATOR]);
}

static bool check_query(struct job *job)
{
	struct answer answer;

	if (!ASK(VICTIM, EINVAL, NULL, .op = OP_QUERY_RCV_QP, .qp_num = NO_SUCH_QP) ||
	    !ASK(VICTIM, 0, &answer, .op = OP_QUERY_RCV_QP, .qp_num = job->rcv_qp_num))
		return false;
	if (answer.state != IBV_QPS_RTR || answer.qp_type != IBV_QPT_XRC)
		return fail(job, "state %u, type %u; wanted %d, %d", answer.state, answer.qp_type,
			    IBV_QPS_RTR, IBV_QPT_XRC);
	return true;
}

static bool check_register(struct job *job)
{
	struct request reg = { .op = OP_REG, .qp_num = job->rcv_qp_num };

	return ASK(SURVIVOR, EINVAL, NULL, .op = OP_REG, .qp_num = NO_SUCH_QP) &&
	       ASK(SURVIVOR, EINVAL, NULL, .op = OP_UNREG, .qp_num = job->rcv_qp_num) &&
	       ask(job, SURVIVOR, reg, 0, NULL) && ask(job, SURVIVOR, reg, 0, NULL) &&
	       ask(job, VICTIM, reg, 0, NULL) && ask(job, CREATOR, reg, 0, NULL);
}

/*
 * An adapter ends every message, well or badly. One that never does has no data path (a kernel
 * under test without a wire, an adapter that hangs); the rest can still be checked.
 */
static bool send_message(struct job *job, enum who from, enum who to, struct answer *sent)
{
	if (!job->no_data_path &&
	    ASK(from, 0, sent, .op = OP_SEND, .srq_num = job->srq_num[to], .seed = ++job->seed))
		return true;
	if (!job->no_data_path && sent->err != ETIMEDOUT)
		return false;
	job->no_data_path = job->without_data = true;
	return true;
}

/* A message from one to the other, whose completion must name the QP that the receiver knows. */
static bool pass(struct job *job, enum who from, enum who to, uint32_t qp_num)
{
	struct answer sent, got;

	if (!send_message(job, from, to, &sent))
		return false;
	if (job->no_data_path)
		return true;
	if (sent.status)
		return fail(job, "the message to %s ended with status %u (%s)",
			    job->actors[to].name, sent.status, ibv_wc_status_str(sent.status));
	if (!ASK(to, 0, &got, .op = OP_RECEIVE, .seed = job->seed))
		return false;
	if (got.status)
		return fail(job, "%s: the receive ended with status %u", job->actors[to].name,
			    got.status);
	if (got.qp_num != qp_num)
		return fail(job, "%s: the completion names QP 0x%06x; wanted 0x%06x",
			    job->actors[to].name, got.qp_num, qp_num);
	return true;
}

static bool check_data(struct job *job)
{
	for (int round = 0; round < 3; round++) {
		if (!pass(job, SENDER, CREATOR, job->rcv_qp_num) ||
		    !pass(job, SENDER, SURVIVOR, job->rcv_qp_num) ||
		    !pass(job, SENDER, VICTIM, job->rcv_qp_num))
			return false;
	}
	return true;
}

/*
 * *heard: whether this process gets the event. False after fail() if it gets another event, or the
 * verb fails.
 */
static bool get_event(struct job *job, enum who who, bool *heard)
{
	struct answer answer =
		actor_ask(&job->actors[who], &(struct request){ .op = OP_GET_EVENT });

	*heard = !answer.err;
	if (answer.err == ETIMEDOUT)
		return true;
	if (answer.err)
		return fail(job, "%s: %s: %s", job->actors[who].name, answer.text,
			    actor_error_text(answer.err));
	if (answer.event_type != (IBV_EVENT_COMM_EST | IBV_XRC_QP_EVENT_FLAG) ||
	    answer.qp_num != job->rcv_qp_num)
		return fail(job, "%s: event 0x%x of QP 0x%06x; wanted COMM_EST with the flag",
			    job->actors[who].name, answer.event_type, answer.qp_num);
	return true;
}

/*
 * Linux since 5.8 gives the event to the creator of the QP, and to no opened handle. The library
 * cannot change that. If only the creator hears it, that is a limit of the kernel; if another
 * process misses it, that is a failure.
 */
static bool check_event(struct job *job)
{
	bool creator, survivor, victim;

	/* The first message raises the event. */
	job->without_data = job->no_data_path;
	if (job->no_data_path)
		return true;
	if (!get_event(job, CREATOR, &creator) || !get_event(job, SURVIVOR, &survivor) ||
	    !get_event(job, VICTIM, &victim))
		return false;
	if (creator && survivor && victim)
		return true;
	if (!creator || survivor || victim)
		return fail(job, "no event for%s%s%s", creator ? "" : " the creator",
			    survivor ? "" : " the survivor", victim ? "" : " the victim");
	job->limit = "this kernel tells only the creator of a receive QP (Linux since 5.8)";
	return true;
}

static bool check_busy(struct job *job)
{
	return ASK(CREATOR, EBUSY, NULL, .op = OP_CLOSE_DOMAIN) &&
	       ASK(CREATOR, 0, NULL, .op = OP_DESTROY_SRQ) &&
	       ASK(CREATOR, EBUSY, NULL, .op = OP_CLOSE_DOMAIN);
}

static bool check_creator_leaves(struct job *job)
{
	return ASK(CREATOR, 0, NULL, .op = OP_UNREG, .qp_num = job->rcv_qp_num) &&
	       ASK(CREATOR, EINVAL, NULL, .op = OP_UNREG, .qp_num = job->rcv_qp_num) &&
	       ASK(CREATOR, 0, NULL, .op = OP_CLOSE_DOMAIN) &&
	       ASK(CREATOR, 0, NULL, .op = OP_CLOSE_DEVICE) &&
	       pass(job, SENDER, SURVIVOR, job->rcv_qp_num) &&
	       pass(job, SENDER, VICTIM, job->rcv_qp_num);
}

static bool check_kill(struct job *job)
{
	actor_kill(&job->actors[VICTIM]);
	return pass(job, SENDER, SURVIVOR, job->rcv_qp_num);
}

static bool check_last(struct job *job)
{
	struct answer sent;

	if (!ASK(SURVIVOR, 0, NULL, .op = OP_UNREG, .qp_num = job->rcv_qp_num) ||
	    !ASK(SURVIVOR, EINVAL, NULL, .op = OP_QUERY_RCV_QP, .qp_num = job->rcv_qp_num) ||
	    !send_message(job, SENDER, SURVIVOR, &sent))
		return false;
	if (!job->no_data_path && sent.status != IBV_WC_RETRY_EXC_ERR)
		return fail(job, "the message to nobody ended with status %u (%s)", sent.status,
			    ibv_wc_status_str(sent.status));
	return true;
}

static bool check_end(struct job *job)
{
	return ASK(SURVIVOR, 0, NULL, .op = OP_DESTROY_SRQ) &&
	       ASK(SURVIVOR, 0, NULL, .op = OP_CLOSE_DOMAIN) &&
	       ASK(SURVIVOR, 0, NULL, .op = OP_CLOSE_DEVICE) &&
	       ASK(SENDER, 0, NULL, .op = OP_DESTROY_XRC_QP) &&
	       ASK(SENDER, 0, NULL, .op = OP_CLOSE_DOMAIN) &&
	       ASK(SENDER, 0, NULL, .op = OP_CLOSE_DEVICE) &&
	       open_domain(job, VISITOR, job->domain_path, 0, EAGAIN);
}

static bool two_way_qp(struct job *job, enum who who)
{
	struct answer answer;

	if (!open_domain(job, who, "", O_CREAT, 0) || !create_srq(job, who) ||
	    !ASK(who, 0, &answer, .op = OP_CREATE_XRC_QP))
		return false;
	job->address[who].qp_num = answer.qp_num;
	return true;
}

static bool check_two_way(struct job *job)
{
	uint32_t here, there;

	if (!two_way_qp(job, TWO_WAY) || !two_way_qp(job, TWO_WAY_PEER))
		return false;
	here = job->address[TWO_WAY].qp_num;
	there = job->address[TWO_WAY_PEER].qp_num;
	return ASK(TWO_WAY, 0, NULL, .op = OP_CONNECT, .peer = job->address[TWO_WAY_PEER]) &&
	       ASK(TWO_WAY_PEER, 0, NULL, .op = OP_CONNECT, .peer = job->address[TWO_WAY]) &&
	       pass(job, TWO_WAY, TWO_WAY_PEER, there) && pass(job, TWO_WAY_PEER, TWO_WAY, here) &&
	       pass(job, TWO_WAY, TWO_WAY_PEER, there);
}

static bool check_two_way_end(struct job *job)
{
	for (enum who who = TWO_WAY; who <= TWO_WAY_PEER; who++) {
		if (!ASK(who, EBUSY, NULL, .op = OP_CLOSE_DOMAIN) ||
		    !ASK(who, 0, NULL, .op = OP_DESTROY_XRC_QP) ||
		    !ASK(who, 0, NULL, .op = OP_DESTROY_SRQ) ||
		    !ASK(who, 0, NULL, .op = OP_CLOSE_DOMAIN) ||
		    !ASK(who, 0, NULL, .op = OP_CLOSE_DEVICE))
			return false;
	}
	return true;
}

const struct check checks[] = {
	{ "1.1", "the eight functions are there, in IBVERBS_1.1", check_symbols, true },
	{ "-", "the device can be opened by several processes", check_devices, true },
	{ "5.1", "a domain is made and joined through a file, with the old errors", check_open,
	  true },
	{ "5.3", "XRC SRQs of three processes have numbers of their own", check_srqs, true },
	{ "5.4", "a receive QP is created by one process and connected by another", check_rcv_qp,
	  true },
	{ "5.5", "a process that is not registered can query it", check_query, false },
	{ "5.6", "others register, more than once without harm", check_register, true },
	{ "5.3", "one QP delivers to the SRQs of all three, and completions name it", check_data,
	  true },
	{ "5.8", "every registered process gets the event, with its flag", check_event, false },
	{ "5.2", "a domain that is in use cannot be closed", check_busy, false },
	{ "5.6", "the creator leaves first, the others go on receiving", check_creator_leaves,
	  true },
	{ "5.7", "a registered process is killed, the other goes on receiving", check_kill, false },
	{ "5.6", "the last one to unregister ends the QP, and messages fail", check_last, false },
	{ "5.7", "in the end everything can be closed, and nothing is left", check_end, false },
	{ "5.3", "an XRC QP that sends and receives (two-way), in both directions", check_two_way,
	  false },
	{ "5.2", "two-way QPs keep their domain busy, and end", check_two_way_end, false },
};

const size_t check_count = sizeof(checks) / sizeof(checks[0]);
