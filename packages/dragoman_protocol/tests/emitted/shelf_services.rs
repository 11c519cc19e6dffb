// Made of the description of the shelf.
vec![
    row::<dragoman_ros::std_srvs::srv::Empty::Service, _, _>(
        CommandKind::Fetch,
        Command::Fetch,
        |command| match command {
            Command::Fetch(body) => Ok(body),
            other => Err(other),
        },
        |()| Outcome::Done,
        |_| Some(()),
    ),
    row::<dragoman_ros::shelf_msgs::srv::GetBoxes::Service, _, _>(
        CommandKind::GetBoxes,
        |()| Command::GetBoxes,
        |command| match command {
            Command::GetBoxes => Ok(()),
            other => Err(other),
        },
        |body| Outcome::Answered(Reply::GetBoxes(body)),
        |outcome| match outcome {
            Outcome::Answered(Reply::GetBoxes(body)) => Some(body),
            _ => None,
        },
    ),
]
