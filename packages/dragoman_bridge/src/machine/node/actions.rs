//! Actions, whose types are known when the program is built.

use std::sync::Arc;

use dragoman_ros::control_msgs::action::GripperCommand;
use dragoman_ros::nav2_msgs::action::NavigateToPose;
use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::{Result, WrappedActionTypeSupport, WrappedTypesupport};
use dragoman_types::json;
use dragoman_types::schema::{Structure, Types};
use futures::future::FutureExt;
use futures::stream::StreamExt;
use serde_json::Value;

use super::goals::Reports;
use super::shared::Shared;
use crate::machine::interface::{Action, Ended};

/// Offers all actions.
///
/// # Errors
/// An error of the middleware.
pub(super) fn serve_all(
    tasks: &mut NodeTasks,
    types: &Types,
    shared: &Arc<Shared>,
    actions: &Arc<Vec<Action>>,
) -> Result<()> {
    for (number, action) in actions.iter().enumerate() {
        let place = Place { shared: Arc::clone(shared), actions: Arc::clone(actions), number };
        match action.kind.as_str() {
            "nav2_msgs/action/NavigateToPose" => serve::<NavigateToPose::Action>(tasks, types, place)?,
            _ => serve::<GripperCommand::Action>(tasks, types, place)?,
        }
    }
    Ok(())
}

/// An action and its machine.
#[derive(Clone)]
struct Place {
    shared: Arc<Shared>,
    actions: Arc<Vec<Action>>,
    number: usize,
}

fn serve<A>(tasks: &mut NodeTasks, types: &Types, place: Place) -> Result<()>
where
    A: WrappedActionTypeSupport + Send + 'static,
    A::Goal: Send + Sync,
    A::Result: Send,
    A::Feedback: Send,
{
    let Some(action) = place.actions.get(place.number) else { return Ok(()) };
    let name = action.name.clone();
    let invalid = |error: dragoman_types::schema::SchemaError| dragoman_ros::Error::SerdeError {
        err: error.to_string(),
    };
    let structures = types.action(&action.kind).map_err(invalid)?;
    let [goal_structure, result_structure, feedback_structure] = structures;
    let checked = (place.clone(), Arc::clone(&goal_structure));
    let check = move |goal: &A::Goal| {
        let (place, structure) = &checked;
        let goal = to_json(structure, goal)?;
        match place.actions.get(place.number) {
            Some(action) => place.shared.check_goal(action, &goal),
            None => Err("there is no such action".to_owned()),
        }
    };
    let execute = move |goal: Goal<A>| {
        let started = to_json(&goal_structure, goal.goal()).and_then(|value| {
            place.shared.start_goal(place.number, &value).map_err(|refusal| refusal.to_string())
        });
        let (place, result_structure) = (place.clone(), Arc::clone(&result_structure));
        let feedback_structure = Arc::clone(&feedback_structure);
        async move {
            let result = |value: &Value| {
                from_json::<A::Result>(&result_structure, value).unwrap_or_else(|reason| {
                    // What the machine has said does not fit the type.
                    tracing::warn!(reason, "the result of a goal does not fit its type");
                    A::Result::default()
                })
            };
            let Reports { id, mut feedback, mut ended } = match started {
                Ok(reports) => reports,
                Err(reason) => {
                    tracing::warn!(reason, "goal not sent");
                    return Outcome::Aborted(A::Result::default());
                }
            };
            let mut canceled = goal.canceled().fuse();
            loop {
                futures::select_biased! {
                    end = &mut ended => return match end {
                        Ok(Ended::Done(value)) => Outcome::Succeeded(result(&value)),
                        Ok(Ended::Failed(value)) => Outcome::Aborted(result(&value)),
                        Ok(Ended::Canceled) => Outcome::Canceled(A::Result::default()),
                        Err(_) => Outcome::Aborted(A::Result::default()),
                    },
                    () = canceled => place.shared.cancel_goal(id),
                    value = feedback.select_next_some() => {
                        match from_json::<A::Feedback>(&feedback_structure, &value) {
                            Ok(feedback) => goal.publish_feedback(feedback),
                            Err(reason) => tracing::debug!(reason, "the feedback does not fit its type"),
                        }
                    }
                }
            }
        }
    };
    tasks.serve_action::<A, _>(&name, check, execute)
}

fn to_json<T: WrappedTypesupport>(structure: &Structure, message: &T) -> std::result::Result<Value, String> {
    let data = message.to_serialized_bytes().map_err(|error| error.to_string())?;
    let text = json::from_cdr(structure, &data).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn from_json<T: WrappedTypesupport>(structure: &Structure, value: &Value) -> std::result::Result<T, String> {
    let data = json::to_cdr(structure, value).map_err(|error| error.to_string())?;
    T::from_serialized_bytes(&data).map_err(|error| error.to_string())
}
